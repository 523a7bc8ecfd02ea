import { demoAccount } from './accounts'
import { appsAt } from './apps'
import { authorizationServer } from './authorization-server'
import { attackLabApp } from './attack-lab'
import { listen, type Listener } from './listen'
import { mcpUrl } from './mcp-server'
import { photoBook } from './photo-book'
import { postcards } from './postcards'
import { registerClients, type DemoClients } from './registered-clients'
import { relyingParty } from './relying-party'
import { resourceServer } from './resource-server'
import { television } from './television'
import { openStorage, type Storage } from './storage'

export interface DemoOptions {
  /** Where the seven apps listen; 0 takes any free port. Default 3000 to 3006. */
  readonly ports?: {
    readonly authorizationServer: number
    readonly client: number
    readonly resourceServer: number
    readonly relyingParty: number
    readonly postcards: number
    readonly attackLab: number
    readonly television: number
  }
  /** Keeps authorizations and sessions where this URL says. Default: in memory. */
  readonly storeUrl?: string
}

export interface Demo {
  /** Base URLs without a slash at the end; the first one is the issuer. */
  readonly authorizationServer: string
  readonly client: string
  readonly resourceServer: string
  /** The site with "sign in with Lumen". */
  readonly relyingParty: string
  /** The client that registers itself. */
  readonly postcards: string
  /** Where visitors watch attacks. */
  readonly attackLab: string
  /** The device without a keyboard. */
  readonly television: string
  /** The URL of the MCP server beside the photos. */
  readonly mcpServer: string
  /** The registered clients, with the secrets of this run. */
  readonly clients: DemoClients
  /** The account at the authorization server. */
  readonly account: { readonly username: string; readonly password: string }
  stop(): Promise<void>
}

const defaultPorts = {
  authorizationServer: 3000,
  client: 3001,
  resourceServer: 3002,
  relyingParty: 3003,
  postcards: 3004,
  attackLab: 3005,
  television: 3006,
}

/**
 * Starts the authorization server, the resource server and their clients.
 *
 * @throws CannotStart when a port is taken. Redis may come later: until then the pages say that it is away.
 */
export async function startDemo({ ports = defaultPorts, storeUrl = '' }: DemoOptions = {}): Promise<Demo> {
  // Requests in flight finish before the listeners close, and the storage goes last.
  const opened = { servers: [] as Closable[], listeners: [] as Closable[], storages: [] as Closable[] }
  const stop = async () => {
    const failures: unknown[] = []
    for (const closables of Object.values(opened)) {
      const results = await Promise.allSettled(closables.splice(0).map((closable) => closable.close()))
      for (const result of results) if (result.status === 'rejected') failures.push(result.reason)
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'))
  }
  try {
    const storage = await openStorage(storeUrl)
    opened.storages.push(storage)
    const at = await listenAt(ports, opened.listeners)
    const { registrations, clients } = registerClients({
      photoBook: at.client.url,
      supperClub: at.relyingParty.url,
      attackLab: at.attackLab.url,
    })
    const [issuer, resource] = [at.authorizationServer.url, at.resourceServer.url]
    opened.servers.push(
      authorizationServer({
        app: at.authorizationServer.app,
        issuer,
        apps: appsAt({
          photoBook: at.client.url,
          postcards: at.postcards.url,
          supperClub: at.relyingParty.url,
          attackLab: at.attackLab.url,
          television: at.television.url,
        }),
        resourceServer: resource,
        clients: registrations,
        store: storage.authorizations,
        sessions: storage.sessions('authorization-server'),
        deviceSecret: storage.deviceSecret,
        limits: storage.limits,
      }),
    )
    startClients(at, clients, storage)
    // In another process it would open the same Redis itself.
    opened.servers.push(
      resourceServer({ app: at.resourceServer.app, url: resource, issuer, store: storage.authorizations }),
    )
    return {
      authorizationServer: issuer,
      client: at.client.url,
      resourceServer: resource,
      relyingParty: at.relyingParty.url,
      postcards: at.postcards.url,
      attackLab: at.attackLab.url,
      television: at.television.url,
      mcpServer: mcpUrl(resource),
      clients,
      account: demoAccount,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Closable {
  close(): Promise<void>
}

type Apps = Readonly<Record<keyof typeof defaultPorts, Listener>>

/** Each app listens before any of them is set up, because they need each other's URLs. */
async function listenAt(ports: typeof defaultPorts, opened: Closable[]): Promise<Apps> {
  const at = async (port: number): Promise<Listener> => {
    const listener = await listen(port)
    opened.push(listener)
    return listener
  }
  return {
    authorizationServer: await at(ports.authorizationServer),
    client: await at(ports.client),
    resourceServer: await at(ports.resourceServer),
    relyingParty: await at(ports.relyingParty),
    postcards: await at(ports.postcards),
    attackLab: await at(ports.attackLab),
    television: await at(ports.television),
  }
}

function startClients(at: Apps, clients: DemoClients, storage: Storage): void {
  const issuer = at.authorizationServer.url
  const settingsOf = ({ app }: Listener) => ({
    app,
    authorizationServer: issuer,
    resourceServer: at.resourceServer.url,
    sessions: storage.sessions,
  })
  photoBook(settingsOf(at.client), { ...clients.photoBook, authorizationServer: issuer })
  postcards(settingsOf(at.postcards), `${at.postcards.url}/callback`)
  relyingParty(settingsOf(at.relyingParty), { ...clients.supperClub, issuer })
  television({ ...settingsOf(at.television), ...clients.television })
  attackLabApp(
    { ...settingsOf(at.attackLab), target: clients.nightlyReport },
    { ...clients.attackLab, authorizationServer: issuer },
  )
}
