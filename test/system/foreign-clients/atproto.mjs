// A client of the AT protocol, which needs Node 22. Tells lines of JSON: where its browser goes, and what it got. Reads the
// URL to which the browser came back.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, issuer, subject, clientId] = process.argv.slice(2)
const packageOf = (name) =>
  import(pathToFileURL(`${folder}/node_modules/@atproto/${name}/dist/index.js`).href)
const { NodeOAuthClient } = await packageOf('oauth-client-node')
const { JoseKey } = await packageOf('jwk-jose')

const tell = (line) => void process.stdout.write(`${JSON.stringify(line)}\n`)
const sent = []
const counting = async (input, init) => {
  const asked = new Request(input, init)
  const body =
    asked.method === 'POST' ? new URLSearchParams(await asked.clone().text()) : new URLSearchParams()
  const answer = await fetch(asked)
  const [grantType, assertion] = ['grant_type', 'client_assertion'].map((name) => body.get(name) ?? '')
  sent.push({ path: new URL(asked.url).pathname.slice(1), grantType, status: answer.status, assertion })
  return answer
}
const store = () => {
  const values = new Map()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    del: async (key) => void values.delete(key),
  }
}
const key = await JoseKey.generate(['ES256'], '1')
const client = new NodeOAuthClient({
  clientMetadata: {
    client_id: clientId,
    client_name: 'Note Taker',
    redirect_uris: ['https://notes.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'atproto photos:read',
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    dpop_bound_access_tokens: true,
  },
  keyset: [key],
  stateStore: store(),
  sessionStore: store(),
  requestLock: async (_name, act) => act(),
  allowHttp: true,
  fetch: counting,
  // Who the owner is, and that this server speaks for the owner, stands in the directory of the AT protocol.
  identityResolver: {
    resolve: async () => ({
      did: subject,
      handle: 'alice.example',
      didDoc: {
        id: subject,
        service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: issuer }],
      },
    }),
  },
})
tell({ metadata: client.clientMetadata })
const url = await client.authorize(issuer)
tell({ url: url.href })
const [answer] = await once(createInterface({ input: process.stdin }), 'line')
const { session } = await client.callback(new URL(answer).searchParams)
const photos = async (some) => (await some.fetchHandler('/photos')).status
const first = await photos(session)
const second = await photos(await client.restore(subject, true))
await session.signOut()
tell({ first, second, sent })
process.exit()
