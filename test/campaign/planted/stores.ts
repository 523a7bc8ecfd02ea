import { setTimeout } from 'node:timers/promises'
import { expiryOf } from '../../../lib/authorization/authorization'
import type { AuthorizationStore, RedisStore, StoredAuthorization } from '../../../lib/index'

/** What a server of the campaign takes from its store. */
type ServedStore = AuthorizationStore & Pick<RedisStore, 'counters' | 'dynamicClients'>

/** Plants a mistake into a sound store; each process plants its own. */
type Plant = (sound: AuthorizationStore) => AuthorizationStore

type Save = AuthorizationStore['save']

/** Only what is broken differs. */
const but =
  (bend: (sound: AuthorizationStore) => Partial<AuthorizationStore>): Plant =>
  (sound) =>
    Object.assign(derived(sound), bend(sound))

function derived<Store extends object>(sound: Store): Store {
  return Object.create(sound)
}

/** Writes whatever is there. */
async function overwrite(sound: AuthorizationStore, ...[authorization, revision]: Parameters<Save>) {
  for (;;) {
    const found = await sound.find(authorization.id)
    if (await sound.save(authorization, revision, found?.revision)) return true
  }
}

const later = (act: () => unknown) => void setTimeout(20, undefined, { ref: false }).then(act)

const ofRevisions: Readonly<Record<string, Plant>> = {
  'check, then act': but((sound) => ({
    save: async (authorization, revision, expected) => {
      const found = await sound.find(authorization.id)
      if (found?.revision === revision) return true
      return found?.revision === expected && overwrite(sound, authorization, revision)
    },
  })),
  'a save that takes any expected revision': but((sound) => ({
    save: (authorization, revision, expected) =>
      expected === undefined
        ? sound.save(authorization, revision)
        : overwrite(sound, authorization, revision),
  })),
  'a save that brings a removed record back': but((sound) => ({
    save: async (authorization, revision, expected) =>
      (await sound.save(authorization, revision, expected)) || sound.save(authorization, revision),
  })),
  'a save that does not know its own revision': but((sound) => ({
    save: async (authorization, revision, expected) => {
      const found = await sound.find(authorization.id)
      return found?.revision !== revision && sound.save(authorization, revision, expected)
    },
  })),
  // Two saves of one record at once become one act, and both are told that theirs was done.
  'a save that loses one of two updates': but((sound) => {
    const saves = new Map<string, Promise<boolean>>()
    return {
      save: async (authorization, ...words) => {
        const { id } = authorization
        const begun = saves.get(id) ?? sound.save(authorization, ...words)
        saves.set(id, begun)
        return begun.finally(() => saves.delete(id))
      },
    }
  }),
  'a find that serves stale copies': but((sound) => {
    const copies = new Map<string, StoredAuthorization>()
    return {
      find: async (id) => {
        const found = copies.get(id) ?? (await sound.find(id))
        if (found !== undefined) copies.set(id, found)
        later(() => copies.delete(id))
        return found
      },
    }
  }),
  'a remove that does nothing': but(() => ({ remove: async () => {} })),
  'a remove that comes late': but((sound) => ({ remove: async (id) => later(() => sound.remove(id)) })),
  'an expiry that comes too early': but((sound) => ({
    find: async (id) => {
      const found = await sound.find(id)
      const secondsLeft = found === undefined ? 0 : expiryOf(found.authorization) - Date.now() / 1000
      return secondsLeft > 600 ? found : undefined
    },
  })),
}

/** Mistakes that those who race for an authorization can see, when nothing breaks. */
export const seenInRaces: Readonly<Record<string, Plant>> = {
  ...ofRevisions,
  // It keeps the refresh token that the record had before.
  'a refresh that does not rotate': but((sound) => ({
    save: async (authorization, revision, expected) => {
      const before = expected === undefined ? undefined : (await sound.find(authorization.id))?.authorization
      const isRefresh = before?.state === 'active' && authorization.state === 'active'
      const saved = isRefresh ? { ...authorization, refreshToken: before.refreshToken } : authorization
      return sound.save(saved, revision, expected)
    },
  })),
}

/** Mistakes that show when something breaks. */
const seenInFaults: Readonly<Record<string, Plant>> = {
  'a failure that reads as an absent record': but((sound) => ({
    find: (id) => sound.find(id).catch(() => undefined),
  })),
  // It reads ahead, and does not wait for what it reads.
  'a failure that nothing awaits': but((sound) => ({
    save: (authorization, ...words) => {
      void sound.find(authorization.id)
      return sound.save(authorization, ...words)
    },
  })),
}

// Of all processes: the copy of one arrives, whichever of them removed the record.
const created = new Map<string, Parameters<Save>>()

/** Mistakes that the contract of stores alone can see: the server watches over them anyway. */
export const seenByContract: Readonly<Record<string, Plant>> = {
  ...ofRevisions,
  // On Redis, its mark refuses the copy.
  'a create that arrives once more, after the removal': but((sound) => ({
    save: (authorization, revision, expected) => {
      if (expected === undefined) created.set(authorization.id, [authorization, revision])
      return sound.save(authorization, revision, expected)
    },
    remove: async (id) => {
      await sound.remove(id)
      const copy = created.get(id)
      created.delete(id)
      if (copy !== undefined) await sound.save(...copy)
    },
  })),
  // A second one comes after a reply that was lost.
  'a remove that takes no repetition': but((sound) => {
    const removed = new Set<string>()
    return {
      remove: async (id) => {
        if (removed.has(id)) throw new Error('There is nothing to remove.')
        removed.add(id)
        await sound.remove(id)
      },
    }
  }),
  'a confirmation of absence that does not look': but(() => ({ confirmAbsent: async () => true })),
  // The last copy it saw stands in for a record that has expired.
  'an expiry that never comes': but((sound) => {
    const seen = new Map<string, StoredAuthorization>()
    return {
      find: async (id) => {
        const found = (await sound.find(id)) ?? seen.get(id)
        if (found !== undefined) seen.set(id, found)
        return found
      },
      remove: async (id) => {
        seen.delete(id)
        await sound.remove(id)
      },
    }
  }),
}

/** The store with the mistake of this name. */
export function plantedInto(sound: ServedStore, name: string): ServedStore {
  const { counters } = sound
  const dynamicClients = derived(sound.dynamicClients)
  if (name === 'a removal of a registration that only pretends') {
    dynamicClients.remove = async () => {}
    return Object.assign(derived(sound), { dynamicClients })
  }
  const plant = { ...seenInRaces, ...seenInFaults }[name]
  if (plant === undefined) throw new Error(`There is no mistake with the name "${name}".`)
  return Object.assign(plant(sound), { counters, dynamicClients })
}
