import type { PageLocale } from '../http/pages/texts/locale'
import type { LoginRequest } from './login-request'
import type { OAuthError } from './oauth-error'
import type { Parameters } from './parameters'
import type { ResourceOwner } from './resource-owner'
import type { ResourceRequest } from './token-type'

/**
 * An endpoint for people: it responds with pages and redirects, such as the page on which the owner of a device enters
 * its code (RFC 8628 3.3). The server gives it the TLS check, the limit on requests of a network, the bounds of a body,
 * events, closing and the page of errors of the authorization endpoint, and refuses forms that another site has sent.
 * A page that changes anything also needs a secret in its form, such as a consent token.
 */
export type PageEndpoint = PageDescription & PageHandling

/** What a page is called and where it is. */
interface PageDescription {
  readonly kind: 'page'
  /** Omitted: people log in at the host. */
  readonly clientAuthentication?: undefined
  /** The name of the page in events: lower-case letters, digits and `_`. */
  readonly name: string
  /** The path below the issuer, such as `/device`. */
  readonly path: string
  /** The HTTP method, or both. Default `GET` and `POST`. The page never serves `HEAD`. */
  readonly method?: PageMethod | readonly PageMethod[]
  /**
   * Whether the metadata names the page: `end_session` becomes the member `end_session_endpoint` (RFC 8414 2). Default
   * false.
   */
  readonly listed?: boolean
  /**
   * Whether a form of another site is good, as the request of a client. It goes on by `GET`, with its fields in the query:
   * browsers keep the session cookie back from such a form. Default false: it is refused.
   */
  readonly fromOtherSites?: boolean
  /**
   * Whether scripts of this site may use the page: they ask with `Accept: application/json` and get the `view` of the
   * response, send the form as JSON too, and get `{ redirect_to }` in place of a redirect. Default false.
   */
  readonly json?: boolean
}

/** An HTTP method of a page. */
export type PageMethod = 'GET' | 'POST'

/**
 * With `login: 'required'`, a person who is not logged in goes to the login, which returns to the same page by `GET`. A
 * form without a login is refused. Default `optional`.
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

/** A request at a page. */
export interface PageRequest<
  Owner extends ResourceOwner | undefined = ResourceOwner | undefined,
> extends ResourceRequest {
  /** The owner who is logged in at the host; undefined if none is. */
  readonly resourceOwner: Owner
  /** Seconds since the epoch, before the server asked who is logged in: the time of what the owner decides. */
  readonly ownerReadAt: number
  /** The parameters of the form, or of the query for `GET`. */
  readonly parameters: Parameters
  /** The address of the user agent, subject to `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /**
   * The language of the page, by the parameter `ui_locales`, then by `Accept-Language`, with the look of the service:
   * `pageDocument({ title, content, locale: request.locale })`.
   */
  readonly locale: PageLocale
  /** Ends the session of the owner, by the option `logOut`. @throws Error without the option. */
  logOut(): Promise<void>
}

/**
 * The response of a page. `html` is the whole document; `pageDocument` and the tag `html` make one, and escape every value. It gets the headers of the pages of the
 * suite: it runs no script, has no style of its own, and its forms stay on this server. `redirect` is a path of this
 * server, to which the user agent goes by `GET` (303). `leaveTo` is a URI of another site, which the page has checked.
 * `logIn` leads to the login of the host, which gets what is asked of it, such as the choice of another account, and
 * returns to `returnTo`, a path below the issuer with its query.
 */
export type PageResponse =
  | {
      readonly html: string
      /** What the page shows, for a script. It gets the page if this member is missing. */
      readonly view?: object
      /** 200, or 400 to 599. Default 200. */
      readonly status?: number
      /** Further headers. Those of every page win. */
      readonly headers?: Readonly<Record<string, string>>
      /** URIs of other sites at which a form of the page may end. Default: forms stay on this server. */
      readonly formTargets?: readonly string[]
      /**
       * Why the page appears, such as a wrong code: the event, the status and the headers of the response. A script gets
       * the error in place of the page. Default: the page is a success.
       */
      readonly refusal?: OAuthError
    }
  | { readonly redirect: string }
  | { readonly leaveTo: string }
  | { readonly logIn: Partial<LoginRequest> & { readonly returnTo: string } }

/** The methods that a page names, as a list. */
export function pageMethods({
  method = ['GET', 'POST'],
}: Pick<PageEndpoint, 'method'>): readonly PageMethod[] {
  return typeof method === 'string' ? [method] : method
}
