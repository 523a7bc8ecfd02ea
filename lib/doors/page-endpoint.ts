import type { PageLocale } from '../pages/texts/locale'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { ResourceRequest } from '../protocol/token-type'
import type { Request, Response } from 'express'
import type { ChoicesQuestion } from '../protocol/extension'

/**
 * Pages and redirects for people. The server adds TLS check, limits, events, closing and the page of errors, and
 * refuses forms of other sites. A page that changes anything also needs a secret in its form, such as a consent token.
 */
export type PageEndpoint = PageDescription & PageHandling

interface PageDescription {
  readonly kind: 'page'
  readonly clientAuthentication?: undefined
  /** In events: lower-case letters, digits and `_`. */
  readonly name: string
  /** Below the issuer, such as `/device`. */
  readonly path: string
  /** Default `GET` and `POST`. Never `HEAD`. */
  readonly method?: PageMethod | readonly PageMethod[]
  /** Whether the metadata names it: `end_session` becomes `end_session_endpoint` (RFC 8414 2). Default false. */
  readonly listed?: boolean
  /**
   * Whether a form of another site is good, as the request of a client. It goes on by `GET`, because browsers withhold
   * the session cookie from it. Default false.
   */
  readonly fromOtherSites?: boolean
  /**
   * Whether scripts of this site may ask for the `view` (`Accept: application/json`), and send JSON for `{ redirect_to
   * }` in place of a redirect. Default false.
   */
  readonly json?: boolean
}

type PageMethod = 'GET' | 'POST'

/**
 * `required`: people go to the login, which returns by `GET`; a form without a login is refused. Default `optional`.
 */
type PageHandling =
  | {
      readonly login: 'required'
      /** @throws OAuthError to refuse, on the page of errors. */
      handle(request: PageRequest<ResourceOwner>): Promise<PageResponse>
    }
  | {
      readonly login?: 'optional'
      /** @throws OAuthError to refuse, on the page of errors. */
      handle(request: PageRequest): Promise<PageResponse>
    }

export interface PageRequest<
  Owner extends ResourceOwner | undefined = ResourceOwner | undefined,
> extends ResourceRequest {
  /** Undefined if nobody is logged in. */
  readonly resourceOwner: Owner
  /** Seconds since the epoch, before the server asked who is logged in: the time of the owner's decision. */
  readonly ownerReadAt: number
  /** Of the form, or of the query of a `GET`. */
  readonly parameters: Parameters
  /** Subject to `trust proxy`; undefined after the connection has closed. */
  readonly address: string | undefined
  /** By `ui_locales`, then `Accept-Language`: `pageDocument({ title, content, locale: request.locale })`. */
  readonly locale: PageLocale
  /** By the option `logOut`. @throws Error without it. */
  logOut(): Promise<void>
}

/**
 * `html` is a whole document, by `pageDocument` and the tag `html`: no script, no style of its own, forms to this
 * server. `redirect` is a path of this server (303). `leaveTo` is a URI of another site, which the page has checked.
 * `logIn` asks the login of the host for something, such as another account, and returns to `returnTo`: a path below
 * the issuer.
 */
export type PageResponse =
  | {
      readonly html: string
      /** For a script. Default: the page. */
      readonly view?: object
      /** 200, or 400 to 599. Default 200. */
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      /** Other sites where a form may end. Default: none. */
      readonly formTargets?: readonly string[]
      /** Such as a wrong code: decides event, status and headers. Default: a success. */
      readonly refusal?: OAuthError
    }
  | { readonly redirect: string }
  | { readonly leaveTo: string }
  | { readonly logIn: Partial<LoginRequest> & { readonly returnTo: string } }

export type OwnPage = Omit<PageEndpoint, 'handle' | 'login'> & {
  readonly login: 'required'
  handle(request: OwnPageRequest): Promise<PageResponse | RenderedByHost>
}

export interface OwnPageRequest extends PageRequest<ResourceOwner> {
  choices(question: ChoicesQuestion): Promise<unknown>
}

export interface RenderedByHost {
  readonly view: object
  readonly render: (request: Request, response: Response) => unknown
  readonly refusal?: OAuthError
}

export type RenderView<View> = (request: Request, response: Response, view: View) => unknown

export const pageOf = <View extends object>(
  view: View,
  render: RenderView<View> | undefined,
  write: (view: View) => string,
) =>
  render === undefined
    ? { view, html: write(view) }
    : { view, render: (request: Request, response: Response) => render(request, response, view) }

export const viewBase = ({ locale, resourceOwner: { subject, name } }: OwnPageRequest) => ({
  service: locale.service,
  language: { tag: locale.tag, dir: locale.dir },
  resourceOwner: { subject, name },
  // Works behind a proxy that prefixes the path.
  action: '?',
})

/** They keep the language for the next page. */
export function languageFields(parameters: Parameters): Readonly<Record<string, string>> {
  const languages = parameters.peek('ui_locales')
  return languages === undefined ? {} : { ui_locales: languages }
}
