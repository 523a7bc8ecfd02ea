// `connection`: also with a wrong certificate. `status`: not 200, so also every redirect. `malformed`: also nested
// too deeply. `limited`: by host, or by sender.
export type UnavailableReason =
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

// `reason` and `cause` are for events: a requester could probe this server's network with them.
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

// An earlier document may then stand in.
export const isUnanswered = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && unanswered.has(error.reason)
