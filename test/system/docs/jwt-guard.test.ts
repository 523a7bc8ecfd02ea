import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { photoServer } from '../../../docs/examples/jwt-guard'
import { createJwtBearerGuard } from '../../../lib/index'
import { hub } from '../../support/assertions/jwt'
import { KeyServer } from '../../support/assertions/key-server'
import { Flow } from '../../support/flows/flow'
import { accessClaims, accessJwt } from '../../support/jwt-guard/access-tokens'
import { hubKeys } from '../../support/jwt-guard/guarded-photos'
import { waitUntil } from '../../support/wait-until'

const docs = join(__dirname, '../../../docs')
const page = readFileSync(join(docs, 'jwt-guard.md'), 'utf8')

const keys = new KeyServer()
beforeAll(() => keys.start())
afterAll(() => keys.stop())

test('the example on the page of guards for JWTs is the file that the tests run', () => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(docs, 'examples/jwt-guard.ts'), 'utf8')}\`\`\``)
})

test('the example takes what its issuer signed, and says why it refuses', async () => {
  const info = jest.spyOn(console, 'info').mockImplementation()
  keys.publish(hub.jwk)
  const flow = new Flow(photoServer({ issuer: hub.issuer, jwksUri: keys.uri }))
  const claims = accessClaims(Math.floor(Date.now() / 1000), { tenant: 'acme' })
  const ask = (path: string, token: string) =>
    flow.open(path, undefined, { Authorization: `Bearer ${token}` })
  // A machine under load may miss the deadline of the keys at first.
  await waitUntil('the keys are there', async () => (await flow.open('/ready')).status === 200)
  expect((await ask('/photos', accessJwt(claims))).body).toEqual({ of: 'alice', through: 'photo-book' })
  expect((await ask('/albums', accessJwt(claims))).body).toEqual({ tenant: 'acme' })
  expect((await ask('/photos', accessJwt({ ...claims, aud: 'https://mail.example' }))).status).toBe(401)
  expect(info.mock.calls).toEqual([['refused', 'jwt_audience_wrong', expect.any(String)]])
  info.mockRestore()
})

test('the page of guards for JWTs has a row for every option, and no other', () => {
  const [, table = ''] = /^\| option.*\n\| -.*\n((?:\|.*\n)+)/m.exec(page) ?? []
  const rows = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name)
  const javascript: { make(options: unknown): unknown } = { make: createJwtBearerGuard }
  const wrong = { issuer: hub.issuer, audience: 'a', keys: hubKeys, x: 1 }
  expect(() => javascript.make(wrong)).toThrow(`known names are ${rows.toSorted().join(', ')}.`)
})
