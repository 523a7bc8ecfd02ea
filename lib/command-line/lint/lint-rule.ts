import type { AuthorizationServerOptions } from '../../config/options'
import type { ServerSettings } from '../../config/settings'
import { resolveOptions } from '../../config/resolve-options'
import type { Client } from '../../protocol/client'
import {
  ConfigurationError,
  type ConfigurationIssue,
  isList,
  isRecord,
} from '../../primitives/options-reader'
import { parseClient, type ServerCapabilities } from '../../protocol/parse-client'
import { isClientRegistry, isDeleted } from '../../clients/client-store'
import { withinDeadline } from '../../stores/deadline'

/**
 * `error` if a specification says MUST, or if anybody can misuse the server. `warning` if the risk depends on the
 * deployment.
 */
type Severity = 'error' | 'warning'

/** A registered client, and the path of its registration. */
interface LintedClient {
  readonly client: Client
  /** For example `clients[0]`, or `clients["album"]` of a store. */
  readonly path: string
}

/** The subject of the rules: a server that could start with these options, and its clients. */
export interface Subject {
  readonly settings: ServerSettings
  /** The enabled clients. Empty if the store cannot list its clients. */
  readonly clients: readonly LintedClient[]
  /** The mistakes for which the server refuses registrations of a store. */
  readonly refused: readonly FindingPlace[]
}

/** One risk that a rule has found. */
export interface Finding {
  /** The id of the rule. Ids are stable: scripts may rely on them, and `--allow` takes them. */
  readonly rule: string
  readonly severity: Severity
  /** The path of the option, such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  /** The `client_id`, if the option belongs to a client. */
  readonly client: string | undefined
  readonly why: string
  readonly cure: string
  /** The specification that asks for the rule, or `good practice`. */
  readonly source: string
}

/** A place that breaks a rule. */
export interface FindingPlace extends Pick<Finding, 'path' | 'client'> {
  /** Replaces the `why` of the rule, if the reason depends on the place. */
  readonly why?: string
}

/** A rule, and the texts of its findings. */
export interface LintRule extends Pick<Finding, 'severity' | 'why' | 'cure' | 'source'> {
  readonly id: string
  /** Every place that breaks the rule. Pure. */
  places(subject: Subject): readonly FindingPlace[]
}

/** The place of a server option, if it breaks the rule; otherwise no place. */
export function optionWhen(broken: boolean, path: string): readonly FindingPlace[] {
  return broken ? [{ path, client: undefined }] : []
}

/** A place for each field that `brokenFields` names, such as `scope` or `redirect_uris[1]`, of each client. */
export function eachClient(
  { clients }: Subject,
  brokenFields: (client: Client) => readonly string[],
): readonly FindingPlace[] {
  return clients.flatMap(({ client, path }) =>
    brokenFields(client).map((field) => ({ path: `${path}.${field}`, client: client.client_id })),
  )
}

/** The paths of the list entries for which the test holds. */
export function entriesWhere(
  field: string,
  entries: readonly string[],
  broken: (entry: string) => boolean,
): readonly string[] {
  return entries.flatMap((entry, index) => (broken(entry) ? [`${field}[${index}]`] : []))
}

/** The subject of the rules, and the reason if its clients are unknown. */
interface Seen {
  readonly subject: Subject
  readonly unseenClients: string | undefined
}

type Clients = Pick<Subject, 'clients' | 'refused'>

/**
 * Reads options into a subject of the rules. Starts no server. Asks a store only for the list of clients, and waits
 * 10 seconds for it.
 *
 * @throws ConfigurationError that lists every mistake of the options.
 */
export async function subjectOf(options: unknown): Promise<Seen> {
  if (!isOptions(options))
    throw new ConfigurationError('The configuration cannot be checked:', [
      { path: 'options', message: 'must be an object, or a function that returns one.' },
    ])
  const settings = resolveOptions(options)
  const { capabilities, registered } = settings
  const seen = (clients: Clients, unseenClients?: string): Seen => ({
    subject: { settings, ...clients },
    unseenClients,
  })
  const none = { clients: [], refused: [] }
  if (registered === undefined) return seen(none)
  const { clients: given, path } = registered
  if (isList(given)) return seen(clientsIn(given, capabilities, (index) => `${path}[${index}]`))
  if (!isClientRegistry(given)) return seen(none, 'the store of clients has no list().')
  try {
    const list = await withinDeadline(() => given.list(), patience)
    const living = list.filter((registration) => !isDeleted(registration))
    return seen(clientsIn(living, capabilities, (_, id) => `${path}[${JSON.stringify(id)}]`))
  } catch {
    return seen(none, 'the store of clients does not answer.')
  }
}

// `resolveOptions` checks the members, as for every host.
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
  why: `The server refuses this registration. This member ${message}`,
})
