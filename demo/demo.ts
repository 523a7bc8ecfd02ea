import { demoAccount } from './accounts'
import { authorizationServer } from './authorization-server'
import { attackLabApp } from './attack-lab'
import { listen, type Listener } from './listen'
import { mcpUrl } from './mcp-server'
import { photoBook } from './photo-book'
import { postcards } from './postcards'
import { registerClients, type DemoClients } from './registered-clients'
import { relyingParty } from './relying-party'
import { resourceServer } from './resource-server'
import type { AppGroup } from './home-page'
import { connectedApplications } from './sign-in'
import { openStorage } from './storage'

export interface DemoOptions {
  /** Where the six apps listen; 0 takes any free port. Default 3000 to 3005. */
  readonly ports?: {
    readonly authorizationServer: number
    readonly client: number
    readonly resourceServer: number
    readonly relyingParty: number
    readonly postcards: number
    readonly attackLab: number
  }
  /** Keeps authorizations and sessions in this Redis. Default: in memory. */
  readonly redisUrl?: string | undefined
}

export interface Demo {
  /** Base URLs without a slash at the end; the first one is the issuer. */
  readonly authorizationServer: string
  readonly client: string
  readonly resourceServer: string
  /** The site with "log in with Lumen". */
  readonly relyingParty: string
  /** The client that registers itself. */
  readonly postcards: string
  /** Where visitors watch attacks. */
  readonly attackLab: string
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
}

/**
 * Starts the authorization server, the resource server and their clients.
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
    const atRelyingParty = keep(await listen(ports.relyingParty))
    const atPostcards = keep(await listen(ports.postcards))
    const atAttackLab = keep(await listen(ports.attackLab))
    const { registrations, clients } = registerClients(atClient.url, atRelyingParty.url, atAttackLab.url)
    const issuer = atAuthorizationServer.url
    // What is kept last is closed first: requests in flight finish before their listeners close.
    keep(
      authorizationServer({
        app: atAuthorizationServer.app,
        issuer,
        apps: appsAt({
          photoBook: atClient.url,
          postcards: atPostcards.url,
          supperClub: atRelyingParty.url,
          attackLab: atAttackLab.url,
          photoApi: atResourceServer.url,
        }),
        resourceServer: atResourceServer.url,
        clients: registrations,
        store: storage.authorizations,
        sessions: storage.sessions('authorization-server'),
        limits: storage.limits,
      }),
    )
    const settingsOf = ({ app }: Listener, name: string) => ({
      app,
      authorizationServer: issuer,
      resourceServer: atResourceServer.url,
      sessions: storage.sessions(name),
    })
    photoBook(settingsOf(atClient, 'photo-book'), { ...clients.photoBook, authorizationServer: issuer })
    postcards(settingsOf(atPostcards, 'postcards'), `${atPostcards.url}/callback`)
    relyingParty(settingsOf(atRelyingParty, 'supper-club'), { ...clients.supperClub, issuer })
    attackLabApp(
      { ...settingsOf(atAttackLab, 'attack-lab'), target: clients.nightlyReport },
      { ...clients.attackLab, authorizationServer: issuer },
    )
    // In another process it would open the same Redis itself.
    keep(
      resourceServer({
        app: atResourceServer.app,
        url: atResourceServer.url,
        issuer,
        store: storage.authorizations,
      }),
    )
    return {
      authorizationServer: issuer,
      client: atClient.url,
      resourceServer: atResourceServer.url,
      relyingParty: atRelyingParty.url,
      postcards: atPostcards.url,
      attackLab: atAttackLab.url,
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

function appsAt(urls: Readonly<Record<AppKey, string>>): readonly AppGroup[] {
  return [
    {
      title: 'Apps that ask you for access',
      apps: [
        {
          name: 'Photo Book',
          url: urls.photoBook,
          does: 'asks for the photos of one workspace, and shows them.',
        },
        {
          name: 'Postcards',
          url: urls.postcards,
          does: 'is unknown to Lumen, introduces itself, and is marked as not verified.',
        },
        { name: 'Supper Club', url: urls.supperClub, does: 'logs you in with Lumen, and learns your name.' },
        {
          name: 'Attack Lab',
          url: urls.attackLab,
          does: 'attacks Lumen at the press of a button, and shows why that fails.',
        },
      ],
    },
    {
      title: 'What you have allowed',
      apps: [
        {
          name: 'Connected applications',
          url: connectedApplications,
          does: 'shows what each app may do, and takes it back.',
        },
      ],
    },
    {
      title: 'Where they get the photos from',
      apps: [
        { name: 'Photo API', url: urls.photoApi, does: 'gives photos to clients that have a token.' },
        {
          name: 'MCP server',
          does: 'gives photos to AI clients that you allow. The terminal says how to start one.',
        },
      ],
    },
  ]
}

type AppKey = 'photoBook' | 'postcards' | 'supperClub' | 'attackLab' | 'photoApi'
