import type { Client } from './client'
import type { Evidence } from './evidence'
import type { ExtensionMetadata } from './extension-metadata'
import type { Parameters } from './parameters'
import type { Sender } from './sender'
import type { ResourceRequest } from './token-type'

/**
 * An endpoint that responds with JSON. The server gives every endpoint the same TLS check, limits, bounds of a body,
 * deadlines, request id, events, 405, `no-store` and closing.
 */
export type Endpoint = EndpointDescription & EndpointHandling

/** What clients need to find and call an endpoint. */
export interface EndpointDescription {
  /** Omitted: an endpoint with a kind is a page, and only a page has a login. */
  readonly kind?: undefined
  readonly login?: undefined
  /**
   * The name of the endpoint in events and in the metadata: `whoami` becomes the member `whoami_endpoint` (RFC 8414 2).
   * Lower-case letters, digits and `_`.
   */
  readonly name: string
  /** The path below the issuer, such as `/whoami`. */
  readonly path: string
  /** The HTTP method, or the methods of a path that serves several. `GET` also serves `HEAD`. Default `POST`. */
  readonly method?: EndpointMethod | readonly EndpointMethod[]
  /**
   * The body of a `POST` or `PUT`: a form (RFC 6749 appendix B), or JSON with at most 32 levels; at most 64 KiB. `GET`
   * and `DELETE` have no body. Default `form`.
   */
  readonly body?: 'form' | 'json'
  /**
   * Whether the metadata names the endpoint. With false, clients learn the URL in another way, such as from the
   * response of another endpoint. Default true.
   */
  readonly listed?: boolean
  /**
   * The HTTP status of each reason or error code, 400 to 599. That of a reason counts first. The status of an error itself wins. A code without an entry has the default: 401 for `invalid_client`
   * and `invalid_token`, 500 for `server_error`, 503 for `temporarily_unavailable`, 400 for every other code.
   */
  readonly errorStatus?: Readonly<Record<string, number>>
  /**
   * Whether scripts of other origins may call the endpoint and read its responses, errors included. The option `cors`
   * of the server names the origins. Default false.
   */
  readonly cors?: boolean
  /** Whether the endpoint also answers during maintenance (option `maintenance`), such as one with public keys. Default false. */
  readonly duringMaintenance?: boolean
  /** Members that the endpoint adds to the metadata of the server. The members of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Whether `handle` calls `useUp` of the request itself: once nothing else refuses the request, and before it changes
   * anything. Default false: the server calls it before `handle`, so a request that `handle` refuses uses it up, too.
   */
  readonly usesUpLast?: boolean
}

/** An HTTP method of an endpoint. */
export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The methods that an endpoint names, as a list. */
export function listedMethods({ method = 'POST' }: EndpointDescription): readonly EndpointMethod[] {
  return typeof method === 'string' ? [method] : method
}

/** Whether requests with this method have a body. */
export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT'
}

/**
 * The callers that an endpoint accepts, and the function that responds. Default `required`: a client must authenticate.
 * `confidential` also refuses public clients, which have no credentials. `optional` accepts requests without a client,
 * but refuses a client that authenticates wrongly. `none` authenticates no client. `Extra` is what the suite adds to
 * the requests of its own endpoints.
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

/** A request at an endpoint that has passed the common checks. */
export interface EndpointRequest<Caller extends Client | undefined = Client> extends ResourceRequest {
  /**
   * The client that has authenticated, or that has named itself if it is a public client. Undefined if no client has.
   */
  readonly client: Caller
  /** The parameters of the form, or of the query for a request without a form. */
  readonly parameters: Parameters
  /** The parsed JSON body, which the server has not checked further; undefined for other bodies. */
  readonly json: unknown
  /**
   * The address of the caller, subject to the `trust proxy` setting of the host; undefined if the connection has
   * closed.
   */
  readonly address: string | undefined
  /** The sender, for fetches that the request causes. */
  readonly sender: Sender
  /** What the extensions found in the request, each under its name. Empty without a client. */
  readonly evidence: Evidence
  /**
   * Uses up what counts once in the request, such as the assertion of its client; undefined if nothing does, or the server
   * has called it. See `usesUpLast`.
   *
   * @throws OAuthError if another request has used it up.
   */
  readonly useUp?: (() => Promise<void>) | undefined
}

/** The response of an endpoint. */
export interface EndpointResponse {
  /** The members of the JSON object. */
  readonly members: object
  /** The HTTP status, 200 to 299. With 204 the response has no content, and no members. Default 200. */
  readonly status?: number
  /** Headers in addition to the headers of every response. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}
