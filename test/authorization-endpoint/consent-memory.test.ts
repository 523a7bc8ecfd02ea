import { setImmediate } from 'node:timers/promises'
import { ConsentMemory } from '../../lib/authorization-endpoint/consent-memory'
import { clientFingerprint, factKeys } from '../../lib/authorization-endpoint/remembered-consent'
import { issuerDigest } from '../../lib/authorization/issuer'
import { memoryStore } from '../../lib/index'
import { clientWith } from '../support/authorization/client'

const client = clientWith({ redirect_uris: ['https://a.example/'] })
const decision = {
  at: 1000,
  fingerprint: clientFingerprint(client),
  choice: '',
  facts: factKeys([]),
  shown: ['a'],
  allowed: ['a'],
}

const open = () =>
  new ConsentMemory({
    store: memoryStore().consents,
    issuerDigest: issuerDigest('https://auth.example'),
    seconds: 60,
    now: () => 1000,
  })

/** Resolves when the clock of the store shows another millisecond. */
async function nextMillisecond() {
  const moment = performance.now()
  while (performance.now() - moment < 2) await setImmediate()
}

test('A decision is remembered by the time at which its owner was read, however long it took', async () => {
  const memory = open()
  const before = memory.moment()
  await nextMillisecond()
  // The client has other destinations now, so this look forgets what its owner allowed.
  await memory.remember('alice', client.client_id, { ...decision, fingerprint: 'other' }, memory.moment())
  expect(await memory.find('alice', client)).toBeUndefined()
  await nextMillisecond()
  await memory.remember('alice', client.client_id, decision, before)
  expect(await memory.find('alice', client)).toBeUndefined()
  await memory.remember('alice', client.client_id, decision, memory.moment())
  expect(await memory.find('alice', client)).toMatchObject({ fingerprint: decision.fingerprint })
})
