/**
 * Why a document is unavailable:
 *
 * - `url`: the URL is not an https URL that this server fetches;
 * - `unresolved`: the name has no address;
 * - `dns_silent`: DNS did not answer for the name;
 * - `address_forbidden`: the name has an address that is not a public one;
 * - `connection`: no connection, a certificate that does not match, or a connection that broke;
 * - `timeout`: the document did not arrive in time;
 * - `status`: another status than 200, so also every redirect;
 * - `type`: not JSON by its `Content-Type`;
 * - `encoding`: a `Content-Encoding`;
 * - `size`: too many bytes;
 * - `malformed`: not JSON in UTF-8, or nested too deeply;
 * - `limited`: this host was asked too often, or this sender named too many URLs;
 * - `busy`: too many documents are being fetched.
 */
type UnavailableReason =
  | 'url'
  | 'unresolved'
  | 'dns_silent'
  | 'address_forbidden'
  | 'connection'
  | 'timeout'
  | 'status'
  | 'type'
  | 'encoding'
  | 'size'
  | 'malformed'
  | 'limited'
  | 'busy'

/**
 * A document of a stranger could not be had. The message says nothing about this server or its network, and nothing
 * about the host. `reason` and `cause` are for events: never show them to a requester, who could probe the network of
 * this server with them.
 */
export class DocumentUnavailable extends Error {
  override readonly name = 'DocumentUnavailable'

  constructor(
    readonly reason: UnavailableReason,
    cause?: unknown,
  ) {
    super('The document is not available.', cause === undefined ? {} : { cause })
  }
}

const unanswered: ReadonlySet<UnavailableReason> = new Set(['limited', 'busy', 'timeout', 'dns_silent'])

/**
 * Whether a failure says nothing about the document: this server did not ask for it, or no answer came. A document from
 * before may then stand in for a while.
 */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && unanswered.has(error.reason)
