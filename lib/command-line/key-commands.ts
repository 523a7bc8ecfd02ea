import {
  manageSigningKeys,
  type KeyManagement,
  type ListedKey,
} from '../jwt/signing-keys/manage-signing-keys'
import type { Command, CommandAnswer, Order } from './command'
import { keyOptions } from './command-options'

const managed = (store: Parameters<Command['run']>[0], { fields, keySecrets }: Order): KeyManagement =>
  manageSigningKeys({ issuer: textOf(fields['issuer']), store, secrets: keySecrets })

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

const listed = (keys: readonly ListedKey[], note?: string): CommandAnswer => ({
  found: keys.map(({ kid, algorithm, createdAt, signsFrom, signs, secret }) => ({
    kid,
    algorithm,
    created: dateOf(createdAt),
    signs_from: dateOf(signsFrom),
    signs,
    secret,
  })),
  ifEmpty: 'No signing key is here. A server makes the first one when it starts.',
  ...(note === undefined ? {} : { note }),
})

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString()

const list: Command = {
  meaning: 'list the signing keys; secret says which of SIGNING_KEY_SECRETS opens each',
  options: keyOptions,
  run: async (store, order) => listed(await managed(store, order).list()),
}

const rotate: Command = {
  meaning: 'make a successor for each key that signs; it signs in 15 minutes, or as publishBefore says',
  options: keyOptions,
  async run(store, order) {
    const keys = managed(store, order)
    const before = await keys.list()
    const after = await keys.rotate()
    return listed(after, rotated(before, after))
  },
}

function rotated(before: readonly ListedKey[], after: readonly ListedKey[]): string | undefined {
  const algorithms = [...new Set(after.map(({ algorithm }) => algorithm))]
  const sentences = algorithms.map((name) => {
    const made = after.find(
      ({ kid, algorithm }) => algorithm === name && before.every((key) => key.kid !== kid),
    )
    return made === undefined
      ? `${name}: a successor waits already, so the command made none.`
      : `${name}: made ${made.kid}, which signs from ${dateOf(made.signsFrom)}.`
  })
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

const retire: Command = {
  meaning: 'end a key at once, such as one that has leaked; its tokens become invalid',
  takes: 'kid',
  options: keyOptions,
  run: async (store, order) =>
    listed(
      await managed(store, order).retire(order.name),
      'Every process of the server drops the key within 10 seconds, or within a minute if it cannot reach the store. Verifiers elsewhere keep the key until their cache ends: 10 minutes, or longer if they ignore Cache-Control.',
    ),
}

export const keyCommands: Readonly<Record<string, Command>> = { list, rotate, retire }
