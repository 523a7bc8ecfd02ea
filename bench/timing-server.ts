import { hashSync } from 'bcrypt'
import express from 'express'
import {
  createAuthorizationServer,
  generateClientSecret,
  memoryStore,
  type ClientRegistration,
} from 'express-authorization-server'
import { bcryptPasswords, password } from 'express-authorization-server/grants'

// The process that is measured: a server in which every kind of client has one of its kind. Its words: fast or bcrypt.
const generated = () => generateClientSecret().client_secret_hash
const client = (client_id: string, ...hashes: readonly string[]): ClientRegistration => ({
  client_id,
  client_type: 'confidential',
  client_secret_hashes: hashes,
  grant_types: ['client_credentials', 'password'],
  scope: 'photos:read',
})

const bcrypted = [
  client('chosen', hashSync('chosen', 10)),
  client('two-chosen', hashSync('old', 10), hashSync('new', 10)),
  client('cheap', hashSync('cheap', 8)),
  { ...client('disabled', hashSync('disabled', 10)), disabled: true },
]
const fast = [
  client('generated', generated()),
  client('two-generated', generated(), generated()),
  { ...client('disabled-generated', generated()), disabled: true },
]
const trusted = generateClientSecret()
const owners = new Map([
  ['alice', { subject: 'alice', passwordHash: hashSync('wonderland', 10) }],
  ['bob', { subject: 'bob', passwordHash: hashSync('builder', 8) }],
])

const oauth = createAuthorizationServer({
  issuer: 'http://localhost',
  clients: [
    ...fast,
    client('trusted', trusted.client_secret_hash),
    ...(process.argv[2] === 'bcrypt' ? bcrypted : []),
  ],
  scopes: { 'photos:read': 'See your photos' },
  // Limits would end the measurement, and their counters are no part of what is compared.
  limits: { clientAuthentication: false, networks: false, issuing: false },
  plugins: [
    password({
      verify: bcryptPasswords((username) => owners.get(username)),
      limits: { username: false, address: false, client: false },
    }),
  ],
  store: memoryStore(),
})
const app = express()
app.use(oauth.router())
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.send?.({ port, secret: trusted.client_secret })
})
// Not without the one who measures.
process.on('disconnect', () => process.exit())
