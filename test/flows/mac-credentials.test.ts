import { type AuthorizationStore, mac, memoryStore } from '../../lib/index'
import { bent, nightlyReport } from '../support/flows/clients'
import { type Headers } from '../support/flows/flow'
import { headerOf, macAttributes } from '../support/flows/mac'
import { setStage } from '../support/flows/stage'

const job = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const digest = `${'A'.repeat(43)}=`

function macStage(hosts = ['api.example.com'], store?: AuthorizationStore) {
  const tokenTypes = [mac({ hosts })]
  const set = setStage({ tokenTypes, clients: [job.registration], ...(store && { store }) })
  const call = async (Authorization: string, headers: Headers = {}) => {
    const { status } = await set.flow.open('/photos', undefined, { Authorization, ...headers })
    return status === 200 ? '200' : `${status} ${set.failures.at(-1)?.reason}`
  }
  return { ...set, call }
}

const good = { id: 'at_x', ts: '1336363200', nonce: 'dj83hs9s', mac: digest }
const usual = headerOf(good)
const bentBy = (attributes: object) => headerOf({ ...good, ...attributes })

test.each([
  ['nothing', 'MAC'],
  ['an attribute twice in another case', `${usual}, NONCE="dj83hs9s"`],
  ['an unknown attribute', `${usual}, realm="x"`],
  ['__proto__', `${usual}, __proto__="x"`],
  ['an attribute without quotes', usual.replace('"at_x"', 'at_x')],
  ['an open quote', `${usual}, ext="x`],
  ['an escaped quote', `${usual}, ext="a\\"b"`],
  ['a tab inside a value', `${usual}, ext="a\tb"`],
  ['a comma at the end', `${usual}, x`],
  ['a comma at the beginning', usual.replace('MAC ', 'MAC , ')],
  ['no comma', usual.replaceAll(',', '')],
  ['space around the equals sign', usual.replaceAll('="', ' = "')],
  ...['0', '-1', '01336363200', '1336363200.5', '1e9', '9'.repeat(13), ''].map((ts) => [
    `the time ${ts}`,
    bentBy({ ts }),
  ]),
  ['an age without what is random', `MAC id="at_x", nonce="7:", mac="${digest}"`],
  ['an age with a sign', `MAC id="at_x", nonce="+7:x", mac="${digest}"`],
  ['a long nonce', bentBy({ nonce: 'x'.repeat(129) })],
  ['a nonce with a space', bentBy({ nonce: 'a b' })],
  ['a long id', bentBy({ id: 'x'.repeat(129) })],
  ['a MAC that is no base64', bentBy({ mac: `${'-'.repeat(43)}=` })],
  ['a MAC of another length', bentBy({ mac: 'AAAA' })],
])('Credentials of the type mac with %s are malformed', async (_what, header = '') => {
  expect(await macStage().call(header)).toBe('400 token_malformed')
})

test('Credentials of the type mac have their attributes in any order, and their names in any case', async () => {
  const { call } = macStage()
  expect(await call(`MAC MAC="${digest}",\t Ts="1336363200" ,Nonce="x",ID="at_x"`)).toBe('401 token_invalid')
})

test.each([
  ['api.example.com', 'api.example.com', true],
  ['api.example.com:80', 'API.example.com', true],
  ['api.example.com', 'api.example.com:80', true],
  ['api.example.com:8443', 'api.example.com', false],
  ['api.example.com.evil.example', 'api.example.com', false],
  ['evil-api.example.com', 'api.example.com', false],
  ['example.com', 'api.example.com', false],
])('The Host %s is meant by the entry %s: %s', async (Host, entry, isMeant) => {
  const { flow, call, clock } = macStage(['other.example', entry])
  const { body } = await flow.request(job, grant)
  const [host = '', port = '80'] = Host.split(':')
  const header = headerOf(macAttributes(body, { host, port, ts: clock.read() }))
  expect(await call(header, { Host })).toBe(isMeant ? '200' : '401 mac_host_not_listed')
})

test('Each token has a key of 32 random bytes, which the store holds sealed [token-30]', async () => {
  const inner = memoryStore()
  const written: string[] = []
  const { flow } = macStage(['api.example.com'], {
    find: (id) => inner.find(id),
    remove: (id) => inner.remove(id),
    save: (...saved) => {
      written.push(JSON.stringify(saved))
      return inner.save(...saved)
    },
  })
  const keys = new Set<string>()
  for (let token = 0; token < 2; token++) keys.add(String((await flow.request(job, grant)).body.mac_key))
  expect([keys.size, written.length]).toEqual([2, 2])
  for (const key of keys) {
    expect(Buffer.from(key, 'base64url')).toHaveLength(32)
    expect(written.join()).not.toContain(key)
  }
})
