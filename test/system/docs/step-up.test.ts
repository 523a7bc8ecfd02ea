import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import request from 'supertest'
import { authorizationRequest, Flow } from '../../support/flows/flow'
import { loginOf } from '../../support/flows/login-stage'
import { codeOf } from '../../support/flows/redirection'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/step-up.md'), 'utf8')
const example = readFileSync(join(root, 'docs/examples/step-up.ts'), 'utf8')

const album = {
  registration: {
    client_id: 'album',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1:4000/callback'],
    scope: 'photos',
  },
} as const

test('the guide of step-up shows the file that the tests run', () => {
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\``)
})

test('the server of the guide challenges a weak login as the guide says, and takes a token of a stronger one', async () => {
  const issuer = `http://localhost:${await freePort()}`
  const running = fork('docs/examples/step-up.ts', {
    cwd: root,
    env: { ...process.env, ISSUER: issuer },
    execArgv: ['-r', 'esbuild-register', '-r', './test/support/tell-port.js'],
  })
  try {
    await once(running, 'message')
    const flow = new Flow(issuer)
    const remove = (token: string) =>
      request(issuer).delete('/photos').set('Authorization', `Bearer ${token}`)
    const { accessToken } = await flow.tokens(album)
    expect((await flow.photos(accessToken)).status).toBe(200)
    const challenged = await remove(accessToken)
    expect(page).toContain(`WWW-Authenticate: ${challenged.get('WWW-Authenticate')?.[0]}`)

    const stronger = { acr_values: 'urn:example:mfa', max_age: '300' }
    const { back } = loginOf(await flow.ask({ ...authorizationRequest(album), ...stronger }))
    const loggedIn = await request(issuer)
      .post('/login')
      .query({ return_to: back, ...stronger })
    const consent = await flow.open(String(loggedIn.get('Location')).slice(issuer.length))
    const { body } = await flow.redeem(album, codeOf(await flow.decide(consent, 'approve')))
    const removed = await remove(body.access_token)
    expect([removed.status, removed.body]).toMatchObject([
      200,
      { deletedBy: 'ada', login: { acr: 'urn:example:mfa' } },
    ])
  } finally {
    running.kill()
    await once(running, 'exit')
  }
})
