import {
  ForOwner,
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
  /** What the page of errors tells the owner. Default: by whether the server or the client is at fault. */
  readonly page?: string
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
export type RefusalTerms = Omit<OAuthErrorOptions, 'observed'>

/**
 * Makes a refusal from its row.
 *
 * @param read what the server read and compared. It fills the places in the words, and warnings show it.
 */
export function refused(name: RefusalName, read: Observed = {}, terms: RefusalTerms = {}): OAuthError {
  const { error, reason, words, status, kind, observed } = said(name, read)
  const Kind = kind === 'answer' ? ProtocolAnswer : kind === 'owner' ? ForOwner : OAuthError
  return new Kind(error, reason, words, { ...(status !== undefined && { status }), ...terms, observed })
}

/** Refuses for a reason that a plug-in gives: by its row for the error of `usual`; a reason of a host has no row. */
export function refusedBy(
  reason: string,
  usual: RefusalName,
  read: Observed = {},
  terms: RefusalTerms = {},
): OAuthError {
  const { error, words } = rows[usual]
  const own = namesByReason.get(`${error} ${reason}`)
  return own === undefined
    ? new OAuthError(error, reason, words, { ...terms, observed: read })
    : refused(own, read, terms)
}

const isName = (name: string): name is RefusalName => known.has(name)

/** The first row of each reason below each error. */
const namesByReason: ReadonlyMap<string, RefusalName> = new Map(
  Object.keys(rows)
    .filter(isName)
    .toReversed()
    .map((name) => [`${rows[name].error} ${name.split('/')[0]}`, name]),
)

/** Refuses without a look at the request, for so many seconds: too many came before, or a share is used up. */
export function overLimit(name: RefusalName, retryAfter: number): Throttled {
  const { reason, words, kind, observed } = said(name)
  return new (kind === 'share' ? OverShare : Throttled)(reason, words, retryAfter, observed)
}

/** Refuses an attempt that the server has not made. */
export const notAttempted = (name: RefusalName): NotAttempted => new NotAttempted(name, rows[name].words)

/** Returns a refusal as it is; any other error becomes the cause of one. */
export const unexpected = (error: unknown): OAuthError =>
  error instanceof OAuthError ? error : refused('unexpected', {}, { cause: error })

/** The client's own metadata is at fault: counts as a failure of the sender's network. */
export class UnusableClient extends OAuthError {
  readonly #forPage: () => OAuthError

  /** @param page the row for the owner, on a page. */
  constructor(name: RefusalName, page: RefusalName = name, read: Observed = {}) {
    const { error, reason, words, observed } = said(name, read)
    super(error, reason, words, { observed })
    this.#forPage = () => refused(page, read)
  }

  forPage(): OAuthError {
    return this.#forPage()
  }
}

/** A row, with what was read in the places of its words. */
function said(name: RefusalName, read: Observed = {}) {
  const [reason = name, cause] = name.split('/')
  const words = rows[name].words.replace(/\{(\w+)\}( ?)/g, (_, place: string, space: string) =>
    read[place] ? String(read[place]) + space : '',
  )
  return { ...rows[name], reason, words, observed: cause === undefined ? read : { cause, ...read } }
}
