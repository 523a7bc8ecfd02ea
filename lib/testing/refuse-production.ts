/** @throws Error if `NODE_ENV` is `production`: the test kit issues tokens without an approval. */
export function refuseProduction(): void {
  if (process.env['NODE_ENV'] !== 'production') return
  throw new Error(
    'express-authorization-server/testing does not load if NODE_ENV is production, because it issues tokens without an approval. Import it only from tests, and run tests with another NODE_ENV.',
  )
}
