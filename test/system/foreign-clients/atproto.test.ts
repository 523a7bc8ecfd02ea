import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import express from 'express'
import { createAuthorizationServer, type Extension } from '../../../lib/index'
import { dpop } from '../../../lib/paths/dpop'
import { metadataDocuments } from '../../../lib/paths/registration'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { pushedAuthorizationRequests } from '../../../lib/paths/pushed-requests'
import { failuresOf } from '../../support/events'
import { canonicalOptions, mountAll } from '../../support/flows/application'
import { DocumentOrigin } from '../../support/flows/document-origin'
import { Flow } from '../../support/flows/flow'
import { requireNode } from '../../support/nodes'
import { installPackage } from '../../support/npm-packages'
import { type StartedServer, startServer } from '../../support/start-server'

const subject = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'

// The AT protocol wants the owner in the token response.
const owner: Extension = {
  name: 'owner',
  respond: async () => ({ members: { sub: subject } }),
}

/** A line of the client. */
interface Told {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly url: string
  readonly first: number
  readonly second: number
  readonly sent: readonly {
    readonly path: string
    readonly grantType: string
    readonly status: number
    readonly assertion: string
  }[]
}

let origin: DocumentOrigin
let server: StartedServer
beforeAll(async () => {
  origin = await DocumentOrigin.start()
})
afterAll(async () => {
  await server?.stop()
  await origin?.stop()
})

test('@atproto/oauth-client-node pushes, logs in, calls, refreshes and logs out, and repeats each request with a nonce', async () => {
  const app = express()
  server = await startServer(app)
  const issuer = `http://127.0.0.1:${server.port}`
  const nonces = { seconds: 60 }
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    issuer,
    scopes: { ...canonicalOptions.scopes, atproto: 'Know who you are' },
    clients: metadataDocuments(origin.reach),
    plugins: [
      privateKeyJwt(),
      owner,
      dpop({ baseUrl: issuer, nonces, guardNonces: nonces }),
      pushedAuthorizationRequests(),
    ],
  })
  const failures = failuresOf(oauth.events)
  // The server of an owner's data names its authorization server.
  app.get('/.well-known/oauth-protected-resource', (_req, res) => {
    res.json({ resource: issuer, authorization_servers: [issuer] })
  })
  mountAll(app, oauth)

  const packages = installPackage('@atproto/oauth-client-node@0.5.3')
  const words = [join(__dirname, 'atproto.mjs'), packages, issuer, subject, origin.clientId]
  const client = spawn(requireNode(22), words, { stdio: ['pipe', 'pipe', 'inherit'], timeout: 120_000 })
  const ended = once(client, 'close')
  const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Told> => {
    const { value, done } = await lines.next()
    if (done === true)
      throw new Error(`The client ended without a word, or took 2 minutes: ${JSON.stringify(failures)}`)
    return JSON.parse(value)
  }

  origin.members = (await next()).metadata
  const flow = new Flow(issuer)
  const { pathname, search } = new URL((await next()).url)
  const approval = await flow.decide(await flow.open(pathname + search, subject), 'approve', subject)
  client.stdin.write(`${approval.get('Location')}\n`)
  const { first, second, sent } = await next()
  expect([first, second]).toEqual([200, 200])
  const posted = sent.filter(({ assertion }) => assertion !== '')
  expect(posted.map(({ path, grantType, status }) => `${path} ${grantType} ${status}`)).toEqual([
    'par  400',
    'par  201',
    'token authorization_code 200',
    'token refresh_token 400',
    'token refresh_token 200',
    'revoke  200',
  ])
  // Its proofs live below the request: the same body comes again with the nonce.
  const assertions = posted.map(({ assertion }) => assertion)
  expect([assertions[0], assertions[3]]).toEqual([assertions[1], assertions[4]])
  expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['use_dpop_nonce']))
  await ended
})
