import { demoAccount } from './accounts'
import { authorizationServer } from './authorization-server'
import { client } from './client'
import { listen } from './listen'
import { mcpUrl } from './mcp-server'
import { registerClients, type DemoClients } from './registered-clients'
import { resourceServer } from './resource-server'
import { openStorage } from './storage'

export interface DemoOptions {
  /** Where the three apps listen; 0 takes any free port. Default 3000, 3001 and 3002. */
  readonly ports?: {
    readonly authorizationServer: number
    readonly client: number
    readonly resourceServer: number
  }
  /** Keeps authorizations and sessions in this Redis. Default: in memory. */
  readonly redisUrl?: string | undefined
}

export interface Demo {
  /** Base URLs without a slash at the end; the first one is the issuer. */
  readonly authorizationServer: string
  readonly client: string
  readonly resourceServer: string
  /** The URL of the MCP server beside the photos. */
  readonly mcpServer: string
  /** The registered clients, with the secrets of this run. */
  readonly clients: DemoClients
  /** The account at the authorization server. */
  readonly account: { readonly username: string; readonly password: string }
  stop(): Promise<void>
}

const defaultPorts = { authorizationServer: 3000, client: 3001, resourceServer: 3002 }

/**
 * Starts the authorization server, the client application and the resource server.
 *
 * @throws CannotStart when a port is taken. Redis may come later: until then the pages say that it is away.
 */
export async function startDemo({ ports = defaultPorts, redisUrl }: DemoOptions = {}): Promise<Demo> {
  const opened: { close(): Promise<void> }[] = []
  const keep = <Closable extends { close(): Promise<void> }>(closable: Closable): Closable => {
    opened.push(closable)
    return closable
  }
  const stop = async () => {
    for (const closable of opened.splice(0).toReversed()) await closable.close()
  }
  try {
    const storage = keep(await openStorage(redisUrl))
    const atAuthorizationServer = keep(await listen(ports.authorizationServer))
    const atClient = keep(await listen(ports.client))
    const atResourceServer = keep(await listen(ports.resourceServer))
    const { registrations, clients } = registerClients(atClient.url)
    // What is kept last is closed first: requests in flight finish before their listeners close.
    const oauth = authorizationServer({
      app: atAuthorizationServer.app,
      issuer: atAuthorizationServer.url,
      resourceServer: atResourceServer.url,
      clients: registrations,
      store: storage.authorizations,
      sessions: storage.sessions('authorization-server'),
      limits: storage.limits,
    })
    keep(oauth)
    client({
      app: atClient.app,
      ...clients.photoBook,
      authorizationServer: atAuthorizationServer.url,
      resourceServer: atResourceServer.url,
      sessions: storage.sessions('photo-book'),
    })
    // In another process it would open the same Redis itself.
    keep(
      resourceServer({
        app: atResourceServer.app,
        url: atResourceServer.url,
        issuer: atAuthorizationServer.url,
        store: storage.authorizations,
      }),
    )
    return {
      authorizationServer: atAuthorizationServer.url,
      client: atClient.url,
      resourceServer: atResourceServer.url,
      mcpServer: mcpUrl(atResourceServer.url),
      clients,
      account: demoAccount,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
