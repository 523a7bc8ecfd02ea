import type { RequestOptions } from 'node:https'
import { DocumentUnavailable } from './document-unavailable'

/** Fetches JSON documents of strangers over https. */
export interface DocumentFetch {
  /**
   * Resolves to the document at this URL. Calls for the same URL at the same time share one fetch and its result.
   *
   * @throws DocumentUnavailable in every other case.
   */
  fetch(url: string): Promise<FetchedDocument>
}

/** A document and how long it may be kept. */
export interface FetchedDocument {
  /** Callers may share the value, and must not change it. */
  readonly json: unknown
  /** Seconds, 60 to 86 400. */
  readonly maximumAge: number
}

export interface DocumentFetchOptions {
  /** Whether documents may come from loopback addresses: only a server whose own issuer is at loopback allows them. */
  readonly loopback: boolean
  /** The most bytes that a document has. Default 5120. */
  readonly maximumSize?: number
  /** Milliseconds of a clock that does not step, for the limits per host. Default `performance.now()`. */
  readonly clock?: () => number
  /** Finds the addresses of a name. Default: DNS. `lookup` of `node:dns/promises` has this form. */
  readonly lookup?: (
    hostname: string,
    options: { readonly all: true },
  ) => Promise<readonly { readonly address: string }[]>
  /** The certificate authorities, in the form of `node:tls`. Default: those of Node. */
  readonly ca?: RequestOptions['ca']
}

/** Makes a {@link DocumentFetch}. The limits count for everything that is fetched through it: make one per server. */
export function documentFetch(_options: DocumentFetchOptions): DocumentFetch {
  return { fetch: async () => Promise.reject(new DocumentUnavailable('unresolved')) }
}
