// Lets a server of other people issue an access token and a refresh token, of alice for Photo Book. Prints them, and what the
// storage of the server then has. Its arguments are the name of the server, and where a package of npm stands.
import { randomBytes, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import express from 'express'

const [, , name, packages] = process.argv
const installed = (module) => createRequire(join(packages, 'package.json'))(module)
const clientId = 'photo-book'
const scope = 'photos:read'
const randomHex = () => randomBytes(32).toString('hex')
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

/** Sends a form, and reads the answer. */
async function post(app, path, fields) {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${server.address().port}${path}`
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  server.close()
  return answer.json()
}

const servers = {
  /** Its adapter has a row for each token. */
  async 'oidc-provider'() {
    const { Provider } = await import('oidc-provider')
    const storage = new Map()
    class Adapter {
      constructor(kind) {
        this.kind = kind
      }
      async upsert(id, payload) {
        storage.set(`${this.kind}:${id}`, payload)
      }
      async find(id) {
        return storage.get(`${this.kind}:${id}`)
      }
    }
    const clients = [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        redirect_uris: ['https://book.example/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ]
    const scopes = ['offline_access', scope]
    const provider = new Provider('http://localhost', { adapter: Adapter, clients, scopes })
    const client = await provider.Client.find(clientId)
    const accountId = 'alice'
    const grantId = await new provider.Grant({ accountId, clientId }).save()
    const token = { accountId, client, grantId, scope, gty: 'authorization_code' }
    return {
      access_token: await new provider.AccessToken(token).save(),
      refresh_token: await new provider.RefreshToken(token).save(),
      storage,
    }
  },

  /** It has no storage: the host makes the tokens. */
  async oauth2orize() {
    const oauth2orize = installed('oauth2orize')
    const storage = new Map()
    const server = oauth2orize.createServer()
    const issue = (client, owner, _password, scopes, done) => {
      const [access, refresh] = [randomHex(), randomHex()]
      const row = { clientId: client.id, userId: owner, scope: scopes, expires: inAnHour() * 1000 }
      storage.set(access, { kind: 'access', ...row }).set(refresh, { kind: 'refresh', ...row })
      done(null, access, refresh)
    }
    server.exchange(oauth2orize.exchange.password(issue))
    const app = express().use(express.urlencoded({ extended: false }))
    const knowClient = (request, _response, next) => {
      request.user = { id: clientId }
      next()
    }
    app.post('/token', knowClient, server.token(), server.errorHandler())
    const fields = { grant_type: 'password', username: 'alice', password: 'wonderland', scope }
    return { ...(await post(app, '/token', fields)), storage }
  },

  /** One row has both tokens. */
  async '@node-oauth/oauth2-server'() {
    const OAuth2Server = installed('@node-oauth/oauth2-server')
    const storage = new Map()
    const model = {
      getClient: async (id) => ({ id, grants: ['password', 'refresh_token'] }),
      getUser: async (id) => ({ id }),
      validateScope: async (_user, _client, scopes) => scopes,
      async saveToken(token, client, user) {
        storage.set(token.accessToken, { ...token, client, user })
        return { ...token, client, user }
      },
    }
    const server = new OAuth2Server({ model, requireClientAuthentication: { password: false } })
    const body = { grant_type: 'password', username: 'alice', password: 'x', client_id: clientId, scope }
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' }
    const request = new OAuth2Server.Request({ headers, method: 'POST', query: {}, body })
    const response = new OAuth2Server.Response({ headers: {} })
    await server.token(request, response)
    return { ...response.body, storage }
  },

  /** Its provider is the host's. */
  async mcpAuthRouter() {
    const { mcpAuthRouter } = await import('@modelcontextprotocol/sdk/server/auth/router.js')
    const storage = new Map()
    const client = { client_id: clientId, redirect_uris: ['https://book.example/callback'] }
    const provider = {
      clientsStore: { getClient: async () => client },
      // SHA-256 of `verifier`, as RFC 7636 has it.
      challengeForAuthorizationCode: async () => 'iMnq5o6zALKXGivsnlom_0F5_WYda32GHkxlV7mq7hQ',
      async exchangeAuthorizationCode({ client_id }) {
        const [access_token, refresh_token] = [randomUUID(), randomUUID()]
        const row = { clientId: client_id, owner: 'alice', scopes: [scope], expiresAt: inAnHour() }
        storage.set(`access ${access_token}`, row).set(`refresh ${refresh_token}`, row)
        return { access_token, refresh_token, token_type: 'bearer', expires_in: 3600 }
      },
    }
    const app = express().use(mcpAuthRouter({ provider, issuerUrl: new URL('http://localhost') }))
    const fields = {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: 'x',
      code_verifier: 'verifier',
    }
    return { ...(await post(app, '/token', fields)), storage }
  },
}

const { access_token, refresh_token, storage } = await servers[name]()
// oidc-provider has written notices before.
console.info(JSON.stringify({ access_token, refresh_token, storage: JSON.stringify([...storage]) }))
