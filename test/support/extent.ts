/** What a test takes of itself: a smoke, and the whole with `TEST_EXTENT=long`, as in `npm run test:long`. */
export const extent = <T>(smoke: T, whole: T): T => (isLong(process.env['TEST_EXTENT']) ? whole : smoke)

function isLong(name: string | undefined): boolean {
  if (name === undefined || name === 'long') return name === 'long'
  throw new Error(`TEST_EXTENT is "${name}": it must be long, or not be set.`)
}
