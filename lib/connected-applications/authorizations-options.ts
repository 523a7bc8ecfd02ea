import { aFlag } from '../primitives/fields'
import { kind, optional } from '../primitives/schema'
import { OptionsReader } from '../primitives/options-reader'
import { isRecord, isText } from '../primitives/values'
import { isWebPage } from '../protocol/uri'

/** The list of what owners have approved, and the page on which they see and end it. */
export interface AuthorizationsOptions {
  /**
   * The path of the page below the issuer. Default `/authorizations`; with `manageAt` alone, there is no such
   * page.
   */
  readonly path?: string
  /**
   * Where an owner ends an access later, for the link on the consent page: a path of the host, or an http or
   * https URL. Default: the page of connected applications.
   */
  readonly manageAt?: string
  /**
   * Whether this option was on when the issuer stored its first authorization: lists are then complete from
   * the start. Default false: they are complete once every earlier authorization has been refreshed or has
   * ended.
   */
  readonly fromTheStart?: boolean
}

export interface ResolvedAuthorizations {
  readonly authorizations: boolean
  readonly listsAll: boolean
  readonly connectedPath: string | undefined
  readonly manageAt: string | undefined
}

export const connectedPageName = 'authorizations'

export const connectedPageNames: Readonly<Record<string, string>> = { path: connectedPageName }

const key = 'authorizations'
const off: ResolvedAuthorizations = {
  authorizations: false,
  listsAll: false,
  connectedPath: undefined,
  manageAt: undefined,
}

export function readAuthorizations(
  reading: OptionsReader,
  mount: string,
  takePath: (fields: OptionsReader, key: string, fallback: string) => string,
): ResolvedAuthorizations {
  const given = reading.take(key)
  if (given === undefined || given === false) return off
  // Where nobody logs in, nobody could see the page.
  if (given === true && reading.take('resourceOwner') === undefined) return { ...off, authorizations: true }
  if (given !== true && !isRecord(given)) {
    reading.wrong(key, 'must be true, false or an object.')
    return off
  }
  const fields = new OptionsReader(given === true ? {} : given, key, reading.issues)
  const manageAt = fields.field('manageAt', optional(kind(isPlace, placeExpectation)))
  const hasPage = manageAt === undefined || fields.take('path') !== undefined
  const connectedPath = hasPage ? takePath(fields, 'path', '/authorizations') : undefined
  const listsAll = fields.field('fromTheStart', aFlag(false))
  const ownPage = connectedPath === undefined ? undefined : mount + connectedPath
  fields.refuseUnknown()
  return { authorizations: true, listsAll, connectedPath, manageAt: manageAt ?? ownPage }
}

const placeExpectation =
  "must be a path such as '/account/apps', or the URL of a page, such as https://example.com/account/apps."

const isPlace = (value: unknown): value is string =>
  isWebPage(value) || (isText(value) && /^\/(?![/\\])/.test(value))
