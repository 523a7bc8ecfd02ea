import { deepEqual, equal } from 'node:assert/strict'
import type { AuthorizationIndex } from '../authorization/authorization-index'
import { anyOwner, type IndexUnderTest } from './authorization-index-rules'
import { type ContractRule, pass } from './contract-rule'

interface Scene {
  readonly index: AuthorizationIndex
  readonly client: string
  readonly pass: (seconds: number) => Promise<void>
}

const rule = (title: string, run: (scene: Scene) => Promise<void>): ContractRule<IndexUnderTest> => ({
  title,
  run: (underTest) =>
    run({ index: underTest.index, client: anyOwner(), pass: (seconds) => pass(underTest, seconds) }),
})

const at = 1_800_000_000

export const clientMarkRules: readonly ContractRule<IndexUnderTest>[] = [
  rule('revokedBefore resolves to undefined for a client without a mark', async ({ index, client }) => {
    equal(await index.revokedBefore(client), undefined)
  }),

  rule('revokedBefore resolves to the time of the mark, for this client alone', async ({ index, client }) => {
    await index.revokeClient(client, at, 60)
    equal(await index.revokedBefore(client), at)
    equal(await index.revokedBefore(anyOwner()), undefined)
  }),

  rule('revokeClient keeps the latest time, in whatever order the marks come', async ({ index, client }) => {
    await index.revokeClient(client, at, 60)
    await index.revokeClient(client, at + 7, 60)
    await index.revokeClient(client, at - 7, 60)
    equal(await index.revokedBefore(client), at + 7)
  }),

  rule('revokeClient keeps the latest of 50 times that come at once', async ({ index, client }) => {
    const times = Array.from({ length: 50 }, (_, offset) => at + ((offset * 7) % 50))
    await Promise.all(times.map((time) => index.revokeClient(client, time, 60)))
    equal(await index.revokedBefore(client), at + 49)
  }),

  rule('a mark of a client is gone after its seconds', async ({ index, client, pass: wait }) => {
    await index.revokeClient(client, at, 0.1)
    await wait(0.2)
    equal(await index.revokedBefore(client), undefined)
  }),

  rule('a later mark with fewer seconds ends no mark of a client early', async (scene) => {
    const { index, client } = scene
    await index.revokeClient(client, at, 60)
    await index.revokeClient(client, at + 1, 0.1)
    await scene.pass(0.2)
    equal(await index.revokedBefore(client), at + 1)
  }),

  rule('a mark of a client has nothing to do with an owner of the same name', async ({ index, client }) => {
    const entry = { authorizationId: 'a'.repeat(22), clientId: 'client' }
    await index.revokeClient(client, at, 60)
    equal(await index.add(client, entry, { seconds: 60, age: 30 }), 'added')
    await index.mark(client, 60)
    equal(await index.revokedBefore(client), at)
    deepEqual(await index.list(client), [entry])
  }),
]
