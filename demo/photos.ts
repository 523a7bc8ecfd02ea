import { isRecord } from '../lib/primitives/values'
import type { Scenery } from './landscape'

export interface Photo extends Scenery {
  readonly id: string
  readonly title: string
  readonly place: string
  /** The workspace that it belongs to. */
  readonly workspace: string
}

// What the resource server has to guard.
const photos: readonly Photo[] = [
  {
    id: 'first-light',
    title: 'First light',
    place: 'Lofoten',
    workspace: 'travels',
    seed: 7,
    sky: ['#f6c8a8', '#f3e3d3'],
    sun: { x: 640, y: 205, radius: 46, color: '#fff6e5' },
    ridges: ['#d9a79a', '#a9788a', '#6c5574', '#3a3656'],
  },
  {
    id: 'high-noon',
    title: 'High noon',
    place: 'Dolomites',
    workspace: 'travels',
    seed: 21,
    sky: ['#7fb6d9', '#dbeef2'],
    sun: { x: 220, y: 130, radius: 34, color: '#fffdf2' },
    ridges: ['#a9c8cf', '#77a6a5', '#477c74', '#24524d'],
  },
  {
    id: 'last-ferry',
    title: 'Last ferry',
    place: 'Isle of Skye',
    workspace: 'travels',
    seed: 40,
    sky: ['#5b5f97', '#f2a48b'],
    sun: { x: 290, y: 262, radius: 58, color: '#ffe0b5' },
    ridges: ['#c47d86', '#8a5a7d', '#53426e', '#2a2648'],
  },
  {
    id: 'blue-hour',
    title: 'Blue hour',
    place: 'Tatra',
    workspace: 'travels',
    seed: 93,
    sky: ['#16213f', '#4f6d9a'],
    sun: { x: 610, y: 120, radius: 26, color: '#f3f4ea' },
    ridges: ['#3f5a86', '#2c4269', '#1d2c4b', '#111a30'],
  },
  {
    id: 'base-camp',
    title: 'Base camp',
    place: 'Mont Blanc',
    workspace: 'alpine-club',
    seed: 128,
    sky: ['#3f7fb5', '#cfe6f2'],
    sun: { x: 560, y: 110, radius: 30, color: '#fffbe8' },
    ridges: ['#eef5f8', '#b9cfdc', '#7d9db2', '#46667d'],
  },
  {
    id: 'first-snow',
    title: 'First snow',
    place: 'Bernina',
    workspace: 'alpine-club',
    seed: 166,
    sky: ['#a9b7c6', '#eef1f3'],
    sun: { x: 180, y: 170, radius: 40, color: '#ffffff' },
    ridges: ['#dfe7ec', '#b7c4ce', '#8496a5', '#4d5f70'],
  },
  {
    id: 'alpenglow',
    title: 'Alpenglow',
    place: 'Matterhorn',
    workspace: 'alpine-club',
    seed: 211,
    sky: ['#46386b', '#f0a27d'],
    sun: { x: 420, y: 250, radius: 50, color: '#ffd9b0' },
    ridges: ['#e58d6f', '#b3617a', '#6d4573', '#33284f'],
  },
]

/**
 * The photos that a token opens: those of the workspace that its resource owner has chosen on the consent page. A service
 * of Lumen itself has no resource owner, and sees all.
 *
 * @param access what a guard knows from the token; nothing opens without it.
 */
export function photosFor(access: Access | undefined): readonly Photo[] {
  if (access === undefined) return []
  if (access.subject === undefined) return photos
  // The page of devices asks for no workspace.
  if (devices.has(access.clientId)) return photos
  const chosen = isRecord(access.choice) ? access.choice['workspace'] : undefined
  return photos.filter(({ workspace }) => workspace === chosen)
}

const devices = new Set<unknown>(['television', 'remote-shell'])

interface Access {
  readonly clientId?: unknown
  readonly subject?: unknown
  /** The answers of the resource owner to the question of the consent page. */
  readonly choice?: unknown
}
