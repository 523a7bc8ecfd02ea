import type { ConsentView } from '../pages/consent-page'

/**
 * What the page of devices shows before and after the consent page: the form for the code, and the answer that
 * counts. The option `page` of `deviceAuthorization()` gets it.
 */
export type DeviceView = DeviceCodeView | DeviceAnswerView

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

/** The answer that counts. The device hears of it by its next poll. */
export interface DeviceAnswerView extends DeviceViewBase {
  readonly step: 'answer'
  readonly answer: 'approved' | 'denied'
  readonly client: ConsentView['client']
}
