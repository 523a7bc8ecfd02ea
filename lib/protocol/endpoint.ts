import type { Client } from './client'
import type { Evidence } from './evidence'
import type { ExtensionMetadata } from './extension-metadata'
import type { Parameters } from './parameters'
import type { Sender } from './sender'
import type { ResourceRequest } from './token-type'

/**
 * An endpoint that responds with JSON. The server gives it the TLS check, limits, bounds of a body, deadlines, request
 * id, events, 405, `no-store` and closing.
 */
export type Endpoint = EndpointDescription & EndpointHandling

export interface EndpointDescription {
  /** Only a page has a kind and a login. */
  readonly kind?: undefined
  readonly login?: undefined
  /**
   * In events and in the metadata: `whoami` becomes `whoami_endpoint` (RFC 8414 2). Lower-case letters, digits and `_`.
   */
  readonly name: string
  /** Below the issuer, such as `/whoami`. */
  readonly path: string
  /** `GET` also serves `HEAD`. Default `POST`. */
  readonly method?: EndpointMethod | readonly EndpointMethod[]
  /**
   * Of a `POST` or `PUT`: a form (RFC 6749 appendix B), or JSON with at most 32 levels; at most 64 KiB. Default `form`.
   */
  readonly body?: 'form' | 'json'
  /** Whether the metadata names the endpoint. With false, clients learn the URL in another way. Default true. */
  readonly listed?: boolean
  /**
   * The HTTP status, 400 to 599, of reasons and error codes. A status of the error itself wins, then that of the
   * reason. Default: 401 for `invalid_client` and `invalid_token`, 500 for `server_error`, 503 for
   * `temporarily_unavailable`, otherwise 400.
   */
  readonly errorStatus?: Readonly<Record<string, number>>
  /**
   * Whether scripts of other origins (option `cors`) may call the endpoint and read its responses, errors included.
   * Default false.
   */
  readonly cors?: boolean
  /**
   * Whether the endpoint answers during maintenance (option `maintenance`), such as one with public keys. Default
   * false.
   */
  readonly duringMaintenance?: boolean
  /** Members that the endpoint adds to the metadata of the server. Those of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Whether `handle` calls `useUp` itself: once nothing else refuses the request, before it changes anything. Default
   * false: the server calls it before `handle`, so a request that `handle` refuses uses it up, too.
   */
  readonly usesUpLast?: boolean
}

export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export function listedMethods({ method = 'POST' }: EndpointDescription): readonly EndpointMethod[] {
  return typeof method === 'string' ? [method] : method
}

export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT'
}

/**
 * `required`: a client must authenticate. `confidential` also refuses public clients. `optional` accepts requests
 * without a client, but refuses one that authenticates wrongly. `none` authenticates no client. Default `required`.
 * `Extra` is what the suite adds for its own endpoints.
 */
export type EndpointHandling<Extra = unknown> =
  | {
      readonly clientAuthentication?: 'required' | 'confidential'
      /** @throws OAuthError to refuse the request. */
      handle(request: EndpointRequest & Extra): Promise<EndpointResponse>
    }
  | {
      readonly clientAuthentication: 'optional'
      /** @throws OAuthError to refuse the request. */
      handle(request: EndpointRequest<Client | undefined> & Extra): Promise<EndpointResponse>
    }
  | {
      readonly clientAuthentication: 'none'
      /** @throws OAuthError to refuse the request. */
      handle(request: EndpointRequest<undefined> & Extra): Promise<EndpointResponse>
    }

/** A request that has passed the common checks. */
export interface EndpointRequest<Caller extends Client | undefined = Client> extends ResourceRequest {
  /** Has authenticated, or has named itself if public; undefined if no client has. */
  readonly client: Caller
  /** Of the form, or of the query for a request without one. */
  readonly parameters: Parameters
  /** The parsed JSON body, not checked further; undefined for other bodies. */
  readonly json: unknown
  /** The address of the caller, subject to `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /** For fetches that the request causes. */
  readonly sender: Sender
  /** What extensions found, by name. Empty without a client. */
  readonly evidence: Evidence
  /**
   * Uses up what counts once, such as the assertion of the client; undefined if nothing does, or the server has called
   * it. See `usesUpLast`.
   *
   * @throws OAuthError if another request has used it up.
   */
  readonly useUp?: (() => Promise<void>) | undefined
}

export interface EndpointResponse {
  /** Of the JSON object. */
  readonly members: object
  /** 200 to 299; 204 has no content and no members. Default 200. */
  readonly status?: number
  /** Besides those of every response. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}
