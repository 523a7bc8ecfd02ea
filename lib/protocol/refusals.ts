import {
  NotAttempted,
  OAuthError,
  type OAuthErrorOptions,
  type Observed,
  OverShare,
  ProtocolAnswer,
  Throttled,
} from './oauth-error'
import table from './refusal-table.json'

/** A row of the table of refusals: what the client gets, and what the person who builds client or server does now. */
interface Row {
  /** The error code on the wire. */
  readonly error: string
  /** The `error_description`; `{name}` stands for what the server read under this name. */
  readonly words: string
  /** Default: the status of the code. */
  readonly status?: number
  /** Default: a failure of the one who sent the request. */
  readonly kind?: string
  /** The rule that refuses, with its clause. */
  readonly rule: string
  readonly cure: string
}

// The declarations of the package name the rows, and no file of data.
const rowsOf = <Rows extends Readonly<Record<string, Row>>>(
  rows: Rows,
): { readonly [Name in keyof Rows]: Row } => rows

const rows = rowsOf(table)

/** Names a row: a reason, or one case of a reason behind a slash. */
export type RefusalName = keyof typeof rows

/**
 * Every reason of this suite for a refusal or a failure: a stable word for logs and events, finer than the error code.
 * `docs/errors.md` explains each. Plug-ins of a host add reasons of their own.
 */
export type Reason = RefusalName extends infer Name
  ? Name extends `${infer Plain}/${string}`
    ? Plain
    : Name
  : never

const known: ReadonlyMap<string, Row> = new Map(Object.entries(rows))

/** The row of a reason in one case; else that of the reason alone. Undefined for a reason of a host. */
export const rowOf = (reason: string, cause?: unknown): Row | undefined =>
  known.get(`${reason}/${String(cause)}`) ?? known.get(reason)

/** What a refusal has besides its row. */
export interface RefusalTerms extends Omit<OAuthErrorOptions, 'observed'> {
  /** The word of a plug-in of the host, in place of the reason of the row. */
  readonly reason?: string
}

/**
 * Makes a refusal from its row.
 *
 * @param read what the server read and compared. It fills the places in the words, and warnings show it.
 */
export function refused(name: RefusalName, read: Observed = {}, terms: RefusalTerms = {}): OAuthError {
  const { error, words, status, kind } = rows[name]
  const { reason, observed } = named(name, read)
  const Kind = kind === 'answer' ? ProtocolAnswer : OAuthError
  return new Kind(error, terms.reason ?? reason, filled(words, read), {
    ...(status !== undefined && { status }),
    ...terms,
    observed,
  })
}

/** Refuses without a look at the request, for so many seconds: too many came before, or a share is used up. */
export function overLimit(name: RefusalName, retryAfter: number): Throttled {
  const { words, kind } = rows[name]
  const { reason, observed } = named(name, {})
  return new (kind === 'share' ? OverShare : Throttled)(reason, words, retryAfter, observed)
}

/** Refuses an attempt that the server has not made. */
export const notAttempted = (name: RefusalName): NotAttempted => new NotAttempted(name, rows[name].words)

/** Returns a refusal as it is; any other error becomes the cause of one. */
export const unexpected = (error: unknown): OAuthError =>
  error instanceof OAuthError ? error : refused('unexpected', {}, { cause: error })

/** The client's own metadata is at fault: counts as a failure of the sender's network. */
export class UnusableClient extends OAuthError {
  constructor(
    name: RefusalName,
    /** For the owner, on a page. */
    private readonly page: RefusalName = name,
    private readonly read: Observed = {},
  ) {
    const { error, words } = rows[name]
    const { reason, observed } = named(name, read)
    super(error, reason, filled(words, read), { observed })
  }

  forPage(): OAuthError {
    return refused(this.page, this.read)
  }
}

function named(name: RefusalName, read: Observed): { readonly reason: string; readonly observed: Observed } {
  const [reason = name, cause] = name.split('/')
  return { reason, observed: cause === undefined ? read : { cause, ...read } }
}

const filled = (words: string, read: Observed): string =>
  words.includes('{')
    ? words
        .replace(/\{(\w+)\} ?/g, (_, place: string) => (read[place] ? `${String(read[place])} ` : ''))
        .trim()
    : words
