import { type AuthenticatingServer, type ClientAuthenticationMethod, type Sender } from '../../lib/index'
import { application, type Mount } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import type { Headers } from '../support/flows/flow'

const client_id = 'watch'
const watch = {
  client_id,
  client_type: 'confidential',
  credentials: { sealed: 'red' },
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} as const
const form = { grant_type: 'client_credentials', client_id, scope: 'photos:read', wax: 'red' }

type Verify = (server: AuthenticatingServer, sender: Sender | undefined) => Promise<unknown>

/** A server behind one proxy, and a method of the host that looks at its fourth and fifth argument. */
function open(look: Verify, options: Parameters<typeof application>[0] = {}) {
  const sealed: ClientAuthenticationMethod = {
    name: 'sealed',
    read: ({ body }) => {
      const credential = body.get('wax')
      return credential === undefined ? undefined : { clientId: body.require('client_id'), credential }
    },
    verify: async (client, credential, _withinLimits, server, sender) => {
      await look(server, sender)
      return client?.credentials['sealed'] === credential
    },
  }
  const mount: Mount = (app, oauth) => void app.set('trust proxy', 1).use(oauth.router())
  const { flow } = application(
    { clients: [watch], clientAuthenticationMethods: [sealed], ...options },
    { mount },
  )
  return (from: string, fields = form) => {
    const headers: Headers = { 'X-Forwarded-For': from }
    return flow.submit('/token', fields, undefined, headers)
  }
}

describe('The fifth argument of verify', () => {
  test('is the sender of the request, by the address that Express reports', async () => {
    const seen: unknown[] = []
    const ask = open(async (_server, sender) => seen.push(sender?.address()))
    expect((await ask('192.0.2.1')).status).toBe(200)
    expect((await ask('2001:db8::1')).status).toBe(200)
    expect(seen).toEqual(['192.0.2.1', '2001:db8::1'])
  })

  test('has the refusal of a network that has used up its failures, and none of another', async () => {
    const seen: unknown[] = []
    const ask = open(async (_server, sender) => seen.push(sender?.networkRefusal?.reason), {
      limits: { networks: { clients: { attempts: 2, seconds: 60 } } },
    })
    for (let failure = 0; failure < 2; failure++) await ask('192.0.2.1', { ...form, wax: 'blue' })
    seen.length = 0
    await ask('192.0.2.1')
    await ask('192.0.2.2')
    expect(seen).toEqual(['rate_limited', undefined])
  })

  // Nothing listens at port 1: a fetch that the limits let through ends in another reason.
  const areLimited = async (passOn: boolean) => {
    const limited: boolean[] = []
    const look: Verify = async (server, sender) => {
      const url = `https://localhost:1/${limited.length}`
      const fetched = server.documents.fetch(url, undefined, passOn ? { sender } : {})
      await fetched.catch(({ reason }: { readonly reason: unknown }) => limited.push(reason === 'limited'))
    }
    // Its time stands still: no share grows again.
    const ask = open(look, { clock: new Clock().read })
    for (let fetches = 0; fetches < 31; fetches++) await ask('192.0.2.1')
    await ask('192.0.2.2')
    return limited.slice(-3)
  }

  test('that a method passes on holds one sender to a share of a host, and leaves the others theirs', async () => {
    expect(await areLimited(true)).toEqual([false, true, false])
  })

  test('that a method does not pass on holds no sender to a share', async () => {
    expect(await areLimited(false)).toEqual([false, false, false])
  })
})
