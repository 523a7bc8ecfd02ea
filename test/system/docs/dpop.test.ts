import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientApplication } from '../../support/flows/clients'
import { Flow, redemption } from '../../support/flows/flow'
import { Prover } from '../../support/flows/prover'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/proof-of-possession.md'), 'utf8')

test('the server of the guide binds a token to a key, which its guarded route demands', async () => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, 'docs/examples/dpop.ts'), 'utf8')}\`\`\``)
  const issuer = `http://localhost:${await freePort()}`
  const execArgv = ['-r', 'esbuild-register', '-r', './test/support/tell-port.js']
  const env = { ...process.env, ISSUER: issuer, PORT: new URL(issuer).port }
  const running = fork('docs/examples/dpop.ts', { cwd: root, env, execArgv })
  try {
    await once(running, 'message')
    const flow = new Flow(issuer)
    const album: ClientApplication = {
      registration: {
        client_id: 'album',
        client_type: 'public',
        redirect_uris: ['http://127.0.0.1:4000/callback'],
        scope: 'photos:read',
      },
    }
    const client = new Prover(Date.now, issuer)
    const { body } = await client.tokens(flow, redemption(album, await flow.approve(album)), album)
    expect(body.token_type).toBe('DPoP')
    expect((await client.call(flow, body.access_token)).body).toEqual({ of: 'ada' })
    expect((await flow.photos(body.access_token)).status).toBe(401)
  } finally {
    running.kill()
    await once(running, 'exit')
  }
})
