import type { PageLocale } from '../http/pages/texts/locale'
import type { LoginRequest } from './login-request'
import type { OAuthError } from './oauth-error'
import type { Parameters } from './parameters'
import type { ResourceOwner } from './resource-owner'
import type { ResourceRequest } from './token-type'

/**
 * An endpoint for people, with pages and redirects, such as the page for the code of a device (RFC 8628 3.3). The
 * server gives it the TLS check, the limit on a network, the bounds of a body, events, closing and the page of errors,
 * and refuses forms of other sites. A page that changes anything also needs a secret in its form, such as a consent
 * token.
 */
export type PageEndpoint = PageDescription & PageHandling

interface PageDescription {
  readonly kind: 'page'
  /** People log in at the host. */
  readonly clientAuthentication?: undefined
  /** In events: lower-case letters, digits and `_`. */
  readonly name: string
  /** Below the issuer, such as `/device`. */
  readonly path: string
  /** Default `GET` and `POST`. Never `HEAD`. */
  readonly method?: PageMethod | readonly PageMethod[]
  /** Whether the metadata names the page: `end_session` becomes `end_session_endpoint` (RFC 8414 2). Default false. */
  readonly listed?: boolean
  /**
   * Whether a form of another site is good, as the request of a client. It goes on by `GET`, with its fields in the
   * query: browsers withhold the session cookie from such a form. Default false.
   */
  readonly fromOtherSites?: boolean
  /**
   * Whether scripts of this site may ask with `Accept: application/json` for the `view`, send the form as JSON, and get
   * `{ redirect_to }` in place of a redirect. Default false.
   */
  readonly json?: boolean
}

export type PageMethod = 'GET' | 'POST'

/**
 * `required` sends people to the login, which returns to the same page by `GET`, and refuses a form without a login.
 * Default `optional`.
 */
type PageHandling =
  | {
      readonly login: 'required'
      /** @throws OAuthError to refuse the request, on the page of errors. */
      handle(request: PageRequest<ResourceOwner>): Promise<PageResponse>
    }
  | {
      readonly login?: 'optional'
      /** @throws OAuthError to refuse the request, on the page of errors. */
      handle(request: PageRequest): Promise<PageResponse>
    }

export interface PageRequest<
  Owner extends ResourceOwner | undefined = ResourceOwner | undefined,
> extends ResourceRequest {
  /** Who is logged in at the host; undefined if nobody is. */
  readonly resourceOwner: Owner
  /** Seconds since the epoch, before the server asked who is logged in: the time of what the owner decides. */
  readonly ownerReadAt: number
  /** Of the form, or of the query for `GET`. */
  readonly parameters: Parameters
  /** Subject to `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /**
   * By `ui_locales`, then by `Accept-Language`, with the look of the service: `pageDocument({ title, content, locale:
   * request.locale })`.
   */
  readonly locale: PageLocale
  /** Ends the session of the owner, by the option `logOut`. @throws Error without the option. */
  logOut(): Promise<void>
}

/**
 * `html` is a whole document, such as from `pageDocument` and the tag `html`, which escape every value. As in the
 * suite, it runs no script, has no style of its own, and its forms stay on this server. `redirect` is a path of this
 * server (303). `leaveTo` is a URI of another site, which the page has checked. `logIn` leads to the login of the host,
 * which gets what is asked of it, such as the choice of another account, and returns to `returnTo`: a path below the
 * issuer with its query.
 */
export type PageResponse =
  | {
      readonly html: string
      /** What a script gets. Default: the page. */
      readonly view?: object
      /** 200, or 400 to 599. Default 200. */
      readonly status?: number
      /** Those of every page win. */
      readonly headers?: Readonly<Record<string, string>>
      /** URIs of other sites at which a form may end. Default: this server only. */
      readonly formTargets?: readonly string[]
      /**
       * Why the page appears, such as a wrong code: gives event, status and headers. A script gets the error in place
       * of the page. Default: a success.
       */
      readonly refusal?: OAuthError
    }
  | { readonly redirect: string }
  | { readonly leaveTo: string }
  | { readonly logIn: Partial<LoginRequest> & { readonly returnTo: string } }

export function pageMethods({
  method = ['GET', 'POST'],
}: Pick<PageEndpoint, 'method'>): readonly PageMethod[] {
  return typeof method === 'string' ? [method] : method
}
