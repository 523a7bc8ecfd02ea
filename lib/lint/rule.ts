import type { Client } from '../protocol/client'
import type { ServerSettings } from '../settings'

/** `error` where a specification says MUST, or everybody can misuse it; `warning` where it depends on the deployment. */
export type Severity = 'error' | 'warning'

/** A registered client, and where its registration stands. */
export interface LintedClient {
  readonly client: Client
  /** Such as `clients[0]`, or `clients["album"]` of a store. */
  readonly path: string
}

/** What is looked at: a server that could start as it is, and the clients that may use it. */
export interface Subject {
  readonly settings: ServerSettings
  /** Without the disabled ones, which are shut out. Empty where they cannot be listed. */
  readonly clients: readonly LintedClient[]
  /** What a registry holds and this server refuses. */
  readonly refused: readonly FindingPlace[]
}

/** One thing that is wrong, or at least worth a second thought. */
export interface Finding {
  /** Stable: scripts may rely on it, and `--allow` names it. */
  readonly rule: string
  readonly severity: Severity
  /** The option, such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  /** The `client_id`, where the option is a client's. */
  readonly client: string | undefined
  readonly why: string
  readonly cure: string
  /** Where it is written. */
  readonly source: string
}

/** Where a rule is broken. */
export interface FindingPlace extends Pick<Finding, 'path' | 'client'> {
  /** In place of the rule's own words, where only the place can tell. */
  readonly why?: string
}

/** A rule, in the words of its findings. */
export interface LintRule extends Pick<Finding, 'severity' | 'why' | 'cure' | 'source'> {
  readonly id: string
  /** Every place where it is broken. Pure. */
  places(subject: Subject): readonly FindingPlace[]
}

/** The place of a server's option, when the rule is broken there. */
export function optionWhen(broken: boolean, path: string): readonly FindingPlace[] {
  return broken ? [{ path, client: undefined }] : []
}

/** The field of each client that breaks the rule; of a list, each entry that does. */
export function eachClient(
  { clients }: Subject,
  brokenFields: (client: Client) => readonly string[],
): readonly FindingPlace[] {
  return clients.flatMap(({ client, path }) =>
    brokenFields(client).map((field) => ({ path: `${path}.${field}`, client: client.client_id })),
  )
}

/** The paths of the entries of a list for which the test holds. */
export function entriesWhere(
  field: string,
  entries: readonly string[],
  broken: (entry: string) => boolean,
): readonly string[] {
  return entries.flatMap((entry, index) => (broken(entry) ? [`${field}[${index}]`] : []))
}
