type Extent = 'quick' | 'usual' | 'long'

/** How much of the tests runs: `npm run test:quick`, `npm test` or `npm run test:long`. */
export const extentOfRun: Extent = extentOf(process.env['TEST_EXTENT'])

/** What a long suite takes of itself: a smoke in `npm test`, and the whole in `npm run test:long`. */
export const extent = <T>(smoke: T, whole: T): T => (extentOfRun === 'long' ? whole : smoke)

function extentOf(name: string | undefined): Extent {
  if (name === undefined) return 'usual'
  if (name === 'quick' || name === 'long') return name
  throw new Error(`TEST_EXTENT is "${name}": it must be quick or long, or not be set.`)
}
