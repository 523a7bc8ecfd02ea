import type { AuthorizationStore, DynamicClientStore, RedisStore } from '../../../lib/index'
import { but, faults } from './broken-stores'

/** What a server takes from its store. */
type ServedStore = AuthorizationStore & Pick<RedisStore, 'counters' | 'dynamicClients'>

/** Mistakes that only show while something breaks, or in what a store does beside authorizations. */
const furtherDefects = {
  'a refresh that does not rotate': (sound: RedisStore) => withPlace(sound, withoutRotation(sound)),
  'a failure that reads as an absent record': (sound: RedisStore) =>
    withPlace(sound, but(sound, { find: (id) => sound.find(id).catch(() => undefined) })),
  'a failure that nothing awaits': (sound: RedisStore) => withPlace(sound, unawaited(sound)),
  'a removal of a registration that only pretends': (sound: RedisStore) => ({
    ...withPlace(sound, sound),
    dynamicClients: pretendingRemoval(sound.dynamicClients),
  }),
} satisfies Record<string, (sound: RedisStore) => ServedStore>

/** The name of a mistake: one of these, or one of broken-stores.ts. */
export type PlantedDefect = string

/** @throws Error without such a mistake. */
export function plantedInto(sound: RedisStore, defect: PlantedDefect): ServedStore {
  for (const [name, plant] of Object.entries(furtherDefects)) if (name === defect) return plant(sound)
  const known = faults.find(({ name }) => name === defect)
  if (known === undefined) throw new Error(`There is no defect with the name "${defect}".`)
  return withPlace(sound, known.plant(sound))
}

const withPlace = ({ counters, dynamicClients }: RedisStore, planted: AuthorizationStore): ServedStore => ({
  ...but(planted, planted.confirmAbsent === undefined ? {} : { confirmAbsent: planted.confirmAbsent }),
  counters,
  dynamicClients,
})

/** Keeps the refresh token that the record had before. */
function withoutRotation(sound: RedisStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) => {
      const before = expected === undefined ? undefined : (await sound.find(authorization.id))?.authorization
      const isRefresh = before?.state === 'active' && authorization.state === 'active'
      const saved = isRefresh ? { ...authorization, refreshToken: before.refreshToken } : authorization
      return sound.save(saved, revision, expected)
    },
  })
}

/** Reads ahead, and does not wait for what it reads. */
function unawaited(sound: RedisStore): AuthorizationStore {
  return but(sound, {
    save: (authorization, revision, expected) => {
      void sound.find(authorization.id)
      return sound.save(authorization, revision, expected)
    },
  })
}

function pretendingRemoval(sound: DynamicClientStore): DynamicClientStore {
  return {
    find: (clientId) => sound.find(clientId),
    add: (addition) => sound.add(addition),
    update: (clientId, change) => sound.update(clientId, change),
    extend: (clientId, lifetime, unlessLeft) => sound.extend(clientId, lifetime, unlessLeft),
    remove: async () => {},
  }
}
