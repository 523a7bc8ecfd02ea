// Programs that ask for a token, make a guarded request with it, and print both statuses and the parts of the token.
const walk = `
const app = express()
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos'), (request, response) => response.end())
const server = app.listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port
  const asked = await fetch(url + '/token', {
    method: 'POST',
    headers: { authorization: 'Basic ' + btoa('album:' + secret) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'photos' }),
  })
  const { access_token = 'none' } = await asked.json()
  const guarded = await fetch(url + '/photos', { headers: { authorization: 'Bearer ' + access_token } })
  console.log(asked.status, guarded.status, access_token.split('.').length)
  await oauth.close()
  server.close()
  server.closeAllConnections()
})
`

const client = `client_id: 'album', client_type: 'confidential', grant_types: ['client_credentials'], redirect_uris: [], scope: 'photos'`

const server = (options: string, names = '') => `
const express = require('express')
const { createAuthorizationServer, generateClientSecret, memoryStore } = require('express-authorization-server')
${names}
const { client_secret: secret, client_secret_hash } = generateClientSecret()
const oauth = createAuthorizationServer({
  issuer: 'http://localhost',
  scopes: { photos: 'See your photos' },
  store: memoryStore({ allowInProduction: true }),
  ${options}
})
${walk}`

/** The smallest server. */
export const smallest = server(`clients: [{ ${client}, client_secret_hashes: [client_secret_hash] }]`)

/** A server that loads jose. */
export const withJose = server(
  `resources: { 'https://api.example': { scopes: ['photos'] } },
  clients: [{ ${client}, client_secret_hashes: [client_secret_hash] }],
  plugins: plugins(signingKeys({ secrets: ['s'.repeat(32)] })),`,
  "const { jwtAccessTokens, signingKeys } = require('express-authorization-server/jwt')",
).replace('const oauth', 'const plugins = (keys) => [keys, jwtAccessTokens({ keys })]\nconst oauth')

/** A server with the digest of a secret that a person chose. */
export const withBcrypt = server(
  `clients: [{ ${client}, client_secret_hashes: ['$2b$04$m6yUorYonDnrmuCVykkTquf/g0Ha3IrwmefykpyaM8MVrRkawpX/K'] }]`,
)

/** The smallest server, on a file of SQLite. */
export const onSqlite = smallest.replace(
  'memoryStore({ allowInProduction: true })',
  "require('express-authorization-server/sqlite').sqliteStore({ path: 'oauth.db' })",
)
