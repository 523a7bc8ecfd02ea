import type { Context, Settings } from '../doors/context'
import type { PageOptions } from '../pages/page-options'
import { aFlag } from '../primitives/fields'
import { type Field, type Fields, group, kind, optional, type Place, switched } from '../primitives/schema'
import { isText } from '../primitives/values'
import { isWebPage } from '../protocol/uri'

/** The list of what owners have approved, and the page on which they see and end it. */
export interface AuthorizationsOptions {
  /**
   * The path of the page below the issuer. Default `/authorizations`; with `manageAt` alone, no page.
   */
  readonly path?: string
  /**
   * Where owners end an access later, for the consent page: a path of the host, or a URL. Default: the page of
   * connected applications.
   */
  readonly manageAt?: string
  /**
   * Whether this option was on when the issuer stored its first authorization: lists are then complete. Default
   * `false`: once every earlier authorization has been refreshed or has ended.
   */
  readonly fromTheStart?: boolean
}

type ResolvedAuthorizations = Readonly<ReturnType<ReturnType<typeof authorizationsOption>>>

export interface ListingContext extends Context {
  readonly settings: Settings & ResolvedAuthorizations & { readonly connectedPage: PageOptions['connected'] }
}

export const connectedPageName = 'authorizations'

export const authorizationsOption =
  (pagePath: Field<string>, mount: string) => (given: unknown, at: Place, name: string) => {
    const read = switched(group(fields))(given, at.with(pagePath), name)
    // Where nobody logs in, nobody could see the page.
    const hasPage = given !== true || at.source['resourceOwner'] !== undefined
    const connectedPath = hasPage ? read?.path : undefined
    return {
      authorizations: read !== undefined,
      listsAll: read?.fromTheStart === true,
      connectedPath,
      manageAt: read?.manageAt ?? (connectedPath === undefined ? undefined : mount + connectedPath),
    }
  }

const placeExpectation =
  "must be a path such as '/account/apps', or the URL of a page, such as https://example.com/account/apps."

const isPlace = (value: unknown): value is string =>
  isWebPage(value) || (isText(value) && /^\/(?![/\\])/.test(value))

const fields = {
  path: (given, at, name) =>
    given === undefined && at.source['manageAt'] !== undefined ? undefined : at.context(given, at, name),
  manageAt: optional(kind(isPlace, placeExpectation)),
  fromTheStart: aFlag(false),
} satisfies Fields<AuthorizationsOptions, Field<string>>
