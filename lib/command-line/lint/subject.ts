import type { AuthorizationServerOptions } from '../../config/options'
import { resolveOptions, type ServerSettings } from '../../config/resolve-options'
import type { Client } from '../../protocol/client'
import { ConfigurationError, type ConfigurationIssue } from '../../primitives/configuration-error'
import { isList, isRecord } from '../../primitives/values'
import { parseClient, type ServerCapabilities } from '../../protocol/parse-client'
import { isDeleted } from '../../stores/client-records'
import { isClientRegistry, registeredClients } from '../../stores/registered'
import { withinDeadline } from '../../store/deadline'

interface LintedClient {
  readonly client: Client
  /** `clients[0]`, or `clients["album"]` of a store. */
  readonly path: string
}

/** A server that could start with these options, and its clients. */
export interface Subject {
  readonly settings: ServerSettings
  /** The enabled clients. Empty if the store cannot list them. */
  readonly clients: readonly LintedClient[]
  /** Registrations of a store that the server refuses. */
  readonly refused: readonly FindingPlace[]
}

export interface FindingPlace {
  /** Such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  readonly client: string | undefined
  readonly why?: string
}

interface Seen {
  readonly subject: Subject
  readonly unseenClients: string | undefined
}

type Clients = Pick<Subject, 'clients' | 'refused'>

/** Starts no server. Asks a store only for the list of clients, for at most 10 seconds. */
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
  if (!isClientRegistry(given)) return seen(none, 'only registeredClients(store) lists its clients.')
  try {
    const list = await withinDeadline(() => registeredClients(given.store).list(), patience)
    const living = list.filter((registration) => !isDeleted(registration))
    return seen(clientsIn(living, capabilities, (_, id) => `${path}[${JSON.stringify(id)}]`))
  } catch {
    return seen(none, 'the store of clients does not answer.')
  }
}

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
