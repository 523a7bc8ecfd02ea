import type { AuthorizationServerOptions } from '../options'
import { ConfigurationError, isRecord, type ConfigurationIssue } from '../protocol/configuration'
import { parseClient, type ServerCapabilities } from '../protocol/parse-client'
import { resolveOptions } from '../resolve-options'
import { isClientRegistry } from '../stores/client-registry'
import { withinDeadline } from '../stores/deadline'
import type { FindingPlace, Subject } from './rule'

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
