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

/** What the client gets, and what the developer does now. */
interface Row {
  readonly error: string
  /** The `error_description`; `{name}` stands for what was read. */
  readonly words: string
  /** Default: the status of the code. */
  readonly status?: number
  /** Default: a failure of the sender. */
  readonly kind?: string
  /** What the page of errors tells the owner. Default: by who is at fault. */
  readonly page?: string
  /** Says what to do by itself, or has a cure. */
  readonly rule: string
  readonly cure?: string
}

// The declarations of the package name rows, no file of data.
const rowsOf = <Rows extends Readonly<Record<string, Row>>>(
  rows: Rows,
): { readonly [Name in keyof Rows]: Row } => rows

const rows = rowsOf(table)

/** A reason, or one case of it behind a slash. */
export type RefusalName = keyof typeof rows

/**
 * Every reason of this suite: a stable word for logs and events, finer than the error code (`docs/errors.md`). Plug-ins
 * add their own.
 */
export type Reason = RefusalName extends infer Name
  ? Name extends `${infer Plain}/${string}`
    ? Plain
    : Name
  : never

const known: ReadonlyMap<string, Row> = new Map(Object.entries(rows))

/** Undefined for a reason of a host. */
export const rowOf = (reason: string, cause?: unknown): Row | undefined =>
  known.get(`${reason}/${String(cause)}`) ?? known.get(reason)

export type RefusalTerms = Omit<OAuthErrorOptions, 'observed'>

/** @param read fills the places in the words; warnings show it. */
export function refused(name: RefusalName, read: Observed = {}, terms: RefusalTerms = {}): OAuthError {
  const { error, reason, words, status, kind, observed } = said(name, read)
  const Kind = kind === 'answer' ? ProtocolAnswer : kind === 'owner' ? ForOwner : OAuthError
  return new Kind(error, reason, words, { ...(status !== undefined && { status }), ...terms, observed })
}

/** For a reason that a plug-in gives; one of a host has no row. */
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

const namesByReason: ReadonlyMap<string, RefusalName> = new Map(
  Object.keys(rows)
    .filter(isName)
    .toReversed()
    .map((name) => [`${rows[name].error} ${name.split('/')[0]}`, name]),
)

export function overLimit(name: RefusalName, retryAfter: number): Throttled {
  const { reason, words, kind, observed } = said(name)
  return new (kind === 'share' ? OverShare : Throttled)(reason, words, retryAfter, observed)
}

export const notAttempted = (name: RefusalName): NotAttempted => new NotAttempted(name, rows[name].words)

export const unexpected = (error: unknown): OAuthError =>
  error instanceof OAuthError ? error : refused('unexpected', {}, { cause: error })

/** The client's own metadata is at fault: a failure of the sender's network. */
export class UnusableClient extends OAuthError {
  readonly #forPage: () => OAuthError

  constructor(name: RefusalName, page: RefusalName = name, read: Observed = {}) {
    const { error, reason, words, observed } = said(name, read)
    super(error, reason, words, { observed })
    this.#forPage = () => refused(page, read)
  }

  forPage(): OAuthError {
    return this.#forPage()
  }
}

function said(name: RefusalName, read: Observed = {}) {
  const [reason = name, cause] = name.split('/')
  const words = rows[name].words.replace(/\{(\w+)\}( ?)/g, (_, place: string, space: string) =>
    read[place] ? String(read[place]) + space : '',
  )
  return { ...rows[name], reason, words, observed: cause === undefined ? read : { cause, ...read } }
}
