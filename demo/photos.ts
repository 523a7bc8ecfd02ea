import type { Scenery } from './landscape'

export interface Photo extends Scenery {
  readonly id: string
  readonly title: string
  readonly place: string
}

/** What the resource server has to guard. */
export const photos: readonly Photo[] = [
  {
    id: 'first-light',
    title: 'First light',
    place: 'Lofoten',
    seed: 7,
    sky: ['#f6c8a8', '#f3e3d3'],
    sun: { x: 640, y: 205, radius: 46, color: '#fff6e5' },
    ridges: ['#d9a79a', '#a9788a', '#6c5574', '#3a3656'],
  },
  {
    id: 'high-noon',
    title: 'High noon',
    place: 'Dolomites',
    seed: 21,
    sky: ['#7fb6d9', '#dbeef2'],
    sun: { x: 220, y: 130, radius: 34, color: '#fffdf2' },
    ridges: ['#a9c8cf', '#77a6a5', '#477c74', '#24524d'],
  },
  {
    id: 'last-ferry',
    title: 'Last ferry',
    place: 'Isle of Skye',
    seed: 40,
    sky: ['#5b5f97', '#f2a48b'],
    sun: { x: 290, y: 262, radius: 58, color: '#ffe0b5' },
    ridges: ['#c47d86', '#8a5a7d', '#53426e', '#2a2648'],
  },
  {
    id: 'blue-hour',
    title: 'Blue hour',
    place: 'Tatra',
    seed: 93,
    sky: ['#16213f', '#4f6d9a'],
    sun: { x: 610, y: 120, radius: 26, color: '#f3f4ea' },
    ridges: ['#3f5a86', '#2c4269', '#1d2c4b', '#111a30'],
  },
]
