import type { ConsentView } from '../pages/consent-page'
import type { ConsentScope } from '../pages/permissions'
import type { ConsentFact } from '../protocol/extension'

/**
 * What the page of devices shows: the form for the code, the question about the request, or the answer that
 * counts. The option `page` of `deviceAuthorization()` gets it.
 */
export type DeviceView = DeviceCodeView | DeviceQuestionView | DeviceAnswerView

interface DeviceViewBase {
  /** By the option `pages.service`. */
  readonly service: ConsentView['service']
  /** The owner's best language among those of the pages. */
  readonly language: ConsentView['language']
  readonly resourceOwner: ConsentView['resourceOwner']
  /** The `action` of the form, which the browser sends by `POST` with the `fields`. */
  readonly action: string
  /** The hidden fields of the form, by name. */
  readonly fields: Readonly<Record<string, string>>
}

/** The form for the code: a field `user_code`. Warn of codes that somebody has sent (RFC 8628 5.4). */
export interface DeviceCodeView extends DeviceViewBase {
  readonly step: 'code'
  /** The code of a link, as `WDJB-MJHT`, which the owner compares with the device; undefined without one. */
  readonly userCode: string | undefined
  /** Why the page appears again: the code is good for nothing, or there were too many wrong codes. */
  readonly problem: 'unknown' | 'too_many' | undefined
  /** Leads to the host's login, to choose another account, and back. */
  readonly switchAccount: string
}

/**
 * The question about a request. The form sends `decision`: `approve`, `deny`, or `switch` for another
 * account. Warn of requests that the owner has not begun (RFC 8628 5.4).
 */
export interface DeviceQuestionView extends DeviceViewBase {
  readonly step: 'question'
  /** What a page may show of the registration. A page must mark a client with `unregistered`. */
  readonly client: ConsentView['client']
  /** To compare with the device. */
  readonly userCode: string
  readonly scope: readonly ConsentScope[]
  /** What extensions add, such as the resources of the access. Show each of them. */
  readonly facts: readonly ConsentFact[]
  /** The device's address; undefined if it is not known. */
  readonly requestedFrom: string | undefined
  /** When the device asked, in seconds since the epoch. */
  readonly requestedAt: number
  /** The time of the page, in seconds since the epoch. */
  readonly now: number
  /** Where the owner can end the access later; undefined without such a page. */
  readonly manageAt: string | undefined
}

/** The answer that counts. The device hears of it by its next poll. */
export interface DeviceAnswerView extends DeviceViewBase {
  readonly step: 'answer'
  readonly answer: 'approved' | 'denied'
  readonly client: ConsentView['client']
}
