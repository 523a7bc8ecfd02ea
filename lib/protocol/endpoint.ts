import type { Client } from './client'
import type { ExtensionMetadata } from './extension'
import type { Parameters } from './parameters'
import type { ResourceRequest } from './token-type'

/**
 * An endpoint that answers with JSON: one row of the endpoint table. TLS, the limits, the bounds of a body, deadlines,
 * the request id, events, 405, `no-store` and closing are equal for all rows.
 */
export type Endpoint = EndpointDescription & EndpointAnswering

/** How clients find and call an endpoint. */
export interface EndpointDescription {
  /**
   * Names the endpoint in events and in the metadata: `whoami` becomes the member `whoami_endpoint` (RFC 8414 2). Lower-case
   * letters, digits and `_`.
   */
  readonly name: string
  /** The path below the issuer, such as `/whoami`. */
  readonly path: string
  /** `GET` also serves `HEAD`. Default `POST`. */
  readonly method?: 'GET' | 'POST'
  /** What a `POST` carries: a form (RFC 6749 appendix B) or JSON, at most 64 KiB. Default `form`. */
  readonly body?: 'form' | 'json'
  /**
   * The HTTP status of error codes. Without an entry, `invalid_client` has 401, `server_error` 500,
   * `temporarily_unavailable` 503, and each other code 400.
   */
  readonly errorStatus?: Readonly<Record<string, number>>
  /** Members that the endpoint adds to the metadata of the server; the members of the suite win. */
  readonly metadata?: ExtensionMetadata
}

/**
 * Who may call an endpoint, and what answers. By default a client must authenticate. `confidential` also refuses public
 * clients, which have no credentials; `optional` refuses only a client that authenticates wrongly; `none` looks at no
 * client. `Extra` is what the suite adds for its own endpoints.
 */
export type EndpointAnswering<Extra = unknown> =
  | {
      readonly clientAuthentication?: 'required' | 'confidential'
      /** @throws OAuthError to refuse the request. */
      answer(request: EndpointRequest & Extra): Promise<EndpointAnswer>
    }
  | {
      readonly clientAuthentication: 'optional'
      /** @throws OAuthError to refuse the request. */
      answer(request: EndpointRequest<Client | undefined> & Extra): Promise<EndpointAnswer>
    }
  | {
      readonly clientAuthentication: 'none'
      /** @throws OAuthError to refuse the request. */
      answer(request: EndpointRequest<undefined> & Extra): Promise<EndpointAnswer>
    }

/** A sound request at an endpoint. */
export interface EndpointRequest<Caller extends Client | undefined = Client> extends ResourceRequest {
  /** The client that has authenticated. */
  readonly client: Caller
  /** The form of the body, or the query of a `GET`; empty for a JSON body. */
  readonly parameters: Parameters
  /** The parsed JSON body, of which nothing is checked; undefined for other bodies. */
  readonly json: unknown
  /** The address of the caller, by the host's `trust proxy`; undefined when the connection is gone. */
  readonly address: string | undefined
}

/** The answer of an endpoint. */
export interface EndpointAnswer {
  /** The members of the JSON object. */
  readonly members: object
  /** The HTTP status, 200 to 299. Default 200. */
  readonly status?: number
  /** Headers beside those of every answer. */
  readonly headers?: Readonly<Record<string, string>>
}
