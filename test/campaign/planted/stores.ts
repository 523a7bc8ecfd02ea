import { setTimeout } from 'node:timers/promises'
import { expiryOf } from '../../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../../lib/authorization/codec'
import type { Store, StoredValue, WriteTerms } from '../../../lib/index'
import { but } from '../../support/stores/but'

/** Plants a mistake into a sound store; each process plants its own. */
type Plant = (sound: Store) => Store

type Written = Parameters<Store['write']>

const kind = 'authorization:'
const authorizationIn = (key: string, value: string) => decodeAuthorization(key.slice(kind.length), value)

/** Only what is broken differs, and for records of this kind alone. */
const broken =
  (
    bend: (sound: Store) => Partial<Pick<Store, 'read' | 'write' | 'remove' | 'confirmAbsent'>>,
    place = kind,
  ): Plant =>
  (sound) => {
    const bent = bend(sound)
    const mistaken = but(sound, bent)
    const at = (key: string) => (key.startsWith(place) ? mistaken : sound)
    return but(sound, {
      ...bent,
      read: (key) => at(key).read(key),
      write: (key, ...words) => at(key).write(key, ...words),
      remove: (key) => at(key).remove(key),
    })
  }

/** Writes whatever is there. */
async function overwrite(sound: Store, ...[key, value, terms]: Written) {
  for (;;) {
    const found = await sound.read(key)
    if (await sound.write(key, value, { ...terms, expected: found?.version })) return true
  }
}

const creating = (terms: WriteTerms): WriteTerms => ({ ...terms, expected: undefined })

const later = (act: () => unknown) => void setTimeout(20, undefined, { ref: false }).then(act)

/** Mistakes that those who race for an authorization can see, when nothing breaks. */
export const seenInRaces: Readonly<Record<string, Plant>> = {
  'check, then act': broken((sound) => ({
    write: async (key, value, terms) => {
      const found = await sound.read(key)
      if (found?.version === terms.version) return true
      return found?.version === terms.expected && overwrite(sound, key, value, terms)
    },
  })),
  'a save that takes any expected revision': broken((sound) => ({
    write: (key, value, terms) =>
      terms.expected === undefined ? sound.write(key, value, terms) : overwrite(sound, key, value, terms),
  })),
  'a save that brings a removed record back': broken((sound) => ({
    write: async (key, value, terms) =>
      (await sound.write(key, value, terms)) || sound.write(key, value, creating(terms)),
  })),
  'a save that does not know its own revision': broken((sound) => ({
    write: async (key, value, terms) => {
      const found = await sound.read(key)
      return found?.version !== terms.version && sound.write(key, value, terms)
    },
  })),
  // Two saves of one record at once become one act, and both are told that theirs was done.
  'a save that loses one of two updates': broken((sound) => {
    const saves = new Map<string, Promise<boolean>>()
    return {
      write: async (key, ...words) => {
        const begun = saves.get(key) ?? sound.write(key, ...words)
        saves.set(key, begun)
        return begun.finally(() => saves.delete(key))
      },
    }
  }),
  'a find that serves stale copies': broken((sound) => {
    const copies = new Map<string, StoredValue>()
    return {
      read: async (key) => {
        const found = copies.get(key) ?? (await sound.read(key))
        if (found !== undefined) copies.set(key, found)
        later(() => copies.delete(key))
        return found
      },
    }
  }),
  'a remove that does nothing': broken(() => ({ remove: async () => {} })),
  'a remove that comes late': broken((sound) => ({ remove: async (key) => later(() => sound.remove(key)) })),
  'an expiry that comes too early': broken((sound) => ({
    read: async (key) => {
      const found = await sound.read(key)
      const endsAt = found === undefined ? 0 : expiryOf(authorizationIn(key, found.value))
      return endsAt - Date.now() / 1000 > 600 ? found : undefined
    },
  })),
  // It keeps the refresh token that the record had before.
  'a refresh that does not rotate': broken((sound) => ({
    write: async (key, value, terms) => {
      const found = terms.expected === undefined ? undefined : await sound.read(key)
      const before = found && authorizationIn(key, found.value)
      const after = authorizationIn(key, value)
      const isRefresh = before?.state === 'active' && after.state === 'active'
      const saved = isRefresh ? encodeAuthorization({ ...after, refreshToken: before.refreshToken }) : value
      return sound.write(key, saved, terms)
    },
  })),
}

/** Mistakes that show when something breaks. */
const seenInFaults: Readonly<Record<string, Plant>> = {
  'a failure that reads as an absent record': broken((sound) => ({
    read: (key) => sound.read(key).catch(() => undefined),
  })),
  // It reads ahead, and does not wait for what it reads.
  'a failure that nothing awaits': broken((sound) => ({
    write: (key, ...words) => {
      void sound.read(key)
      return sound.write(key, ...words)
    },
  })),
  'a removal of a registration that only pretends': broken(() => ({ remove: async () => {} }), 'client:'),
}

/** The store with the mistake of this name. */
export function plantedInto(sound: Store, name: string): Store {
  const plant = { ...seenInRaces, ...seenInFaults }[name]
  if (plant === undefined) throw new Error(`There is no mistake with the name "${name}".`)
  return plant(sound)
}
