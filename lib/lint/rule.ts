import type { AuthorizationServerOptions, ServerSettings } from '../config/options'
import { resolveOptions } from '../config/resolve-options'
import type { Client } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue, isRecord } from '../protocol/configuration'
import { parseClient, type ServerCapabilities } from '../protocol/parse-client'
import { isClientRegistry } from '../stores/client-store'
import { withinDeadline } from '../stores/deadline'

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

/** A subject, and why its clients could not be looked at, if so. */
export interface Seen {
  readonly subject: Subject
  readonly unseenClients: string | undefined
}

type Clients = Pick<Subject, 'clients' | 'refused'>

/**
 * Reads what is to be looked at. It starts nothing; of a store it asks the list of clients, and waits 10 seconds for it.
 *
 * @throws ConfigurationError that lists every mistake of the options.
 */
export async function subjectOf(options: unknown): Promise<Seen> {
  if (!isOptions(options))
    throw new ConfigurationError('The configuration cannot be looked at:', [
      { path: 'options', message: 'must be an object, or a function that returns one.' },
    ])
  const settings = resolveOptions(options)
  const { capabilities } = settings
  const seen = (clients: Clients, unseenClients?: string): Seen => ({
    subject: { settings, ...clients },
    unseenClients,
  })
  const given: unknown = options.clients
  if (Array.isArray(given)) return seen(clientsIn(given, capabilities, (index) => `clients[${index}]`))
  const none = { clients: [], refused: [] }
  if (!isClientRegistry(given)) return seen(none, 'the store of clients has no list().')
  try {
    const list = await withinDeadline(() => given.list(), patience)
    return seen(clientsIn(list, capabilities, (_, id) => `clients[${JSON.stringify(id)}]`))
  } catch {
    return seen(none, 'the store of clients does not answer.')
  }
}

// What is inside is proven by resolveOptions, as the options of any JavaScript host are.
const isOptions = (value: unknown): value is AuthorizationServerOptions => isRecord(value)
const patience = 10

function clientsIn(
  sources: readonly unknown[],
  capabilities: ServerCapabilities,
  pathOf: (index: number, id: string) => string,
): Clients {
  const read = sources.map((source, index) => {
    const id = isRecord(source) ? String(source['client_id']) : ''
    const path = pathOf(index, id)
    const issues: ConfigurationIssue[] = []
    const client = parseClient(source, path, issues, capabilities)
    return { path, client, refusals: issues.map((mistake) => refusal(mistake, id)) }
  })
  const enabled = read.filter(({ client }) => !client.disabled)
  return {
    clients: enabled.filter(({ refusals }) => refusals.length === 0),
    refused: enabled.flatMap(({ refusals }) => refusals),
  }
}

const refusal = ({ path, message }: ConfigurationIssue, client: string): FindingPlace => ({
  path,
  client,
  why: `The server refuses this registration: this ${message}`,
})
