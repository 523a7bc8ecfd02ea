import type { Client } from './client'
import type { Evidence } from './extension-data'
import type { ExtensionMetadata } from './extension-metadata'
import type { Parameters } from './parameters'
import type { Sender } from './sender'
import type { ResourceRequest } from './token-type'

/**
 * Responds with JSON. The server adds TLS check, limits, bounds of a body, deadlines, request id, events, 405,
 * `no-store` and closing.
 */
export type Endpoint = EndpointDescription & EndpointHandling

export interface EndpointDescription {
  readonly kind?: undefined
  readonly login?: undefined
  /** In events and metadata: `whoami` becomes `whoami_endpoint` (RFC 8414 2). Lower-case letters, digits and `_`. */
  readonly name: string
  /** Below the issuer, such as `/whoami`. */
  readonly path: string
  /** `GET` also serves `HEAD`. Default `POST`. */
  readonly method?: EndpointMethod | readonly EndpointMethod[]
  /**
   * A form (RFC 6749 appendix B), or JSON of at most 32 levels, in a `POST` or `PUT`; at most 64 KiB. Default `form`.
   */
  readonly body?: 'form' | 'json'
  /** Whether the metadata names it. Default true. */
  readonly listed?: boolean
  /**
   * 400 to 599, by reason or error code; that of the error itself wins, then that of its reason. Default: 401 for
   * `invalid_client` and `invalid_token`, 500 for `server_error`, 503 for `temporarily_unavailable`, else 400.
   */
  readonly errorStatus?: Readonly<Record<string, number>>
  /** Whether other origins (option `cors`) may read responses. Default false. */
  readonly cors?: boolean
  /** Whether it answers during maintenance. Default false. */
  readonly duringMaintenance?: boolean
  /** Of the server. Those of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Whether `handle` calls `useUp`, once nothing else refuses the request, and before any change. Default false: the
   * server calls it before `handle`.
   */
  readonly usesUpLast?: boolean
}

type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const listedMethods = ({ method = 'POST' }: EndpointDescription): readonly EndpointMethod[] =>
  typeof method === 'string' ? [method] : method

export const hasBody = (method: string): boolean => method === 'POST' || method === 'PUT'

/**
 * `required`: a client authenticates. `confidential`: also, no public clients. `optional`: none, or one that
 * authenticates rightly. Default `required`.
 */
export type EndpointHandling<Extra = unknown> =
  | {
      readonly clientAuthentication?: 'required' | 'confidential'
      /** @throws OAuthError to refuse. */
      handle(request: EndpointRequest & Extra): Promise<EndpointResponse>
    }
  | {
      readonly clientAuthentication: 'optional'
      /** @throws OAuthError to refuse. */
      handle(request: EndpointRequest<Client | undefined> & Extra): Promise<EndpointResponse>
    }
  | {
      readonly clientAuthentication: 'none'
      /** @throws OAuthError to refuse. */
      handle(request: EndpointRequest<undefined> & Extra): Promise<EndpointResponse>
    }

export interface EndpointRequest<Caller extends Client | undefined = Client> extends ResourceRequest {
  /** Authenticated, or public and named by itself; undefined without a client. */
  readonly client: Caller
  /** Of the form, else of the query. */
  readonly parameters: Parameters
  /** Parsed, not checked; undefined for other bodies. */
  readonly json: unknown
  /** Subject to `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /** For fetches that the request causes. */
  readonly sender: Sender
  /** Of extensions, by name. */
  readonly evidence: Evidence
  /**
   * Uses up what counts once, such as the client's assertion; undefined if nothing does, or after the call. See
   * `usesUpLast`.
   *
   * @throws OAuthError if another request has used it up.
   */
  readonly useUp?: (() => Promise<void>) | undefined
}

export interface EndpointResponse {
  readonly members: object
  /** 200 to 299; 204 has no members. Default 200. */
  readonly status?: number
  /** Besides those of every response. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}
