/** @throws Error where `NODE_ENV` is `production`: the test kit issues tokens that nobody approved. */
export function refuseProduction(): void {
  if (process.env['NODE_ENV'] !== 'production') return
  throw new Error(
    'express-authorization-server/testing does not load where NODE_ENV is production, because it issues tokens that nobody approved. Import it from tests only, and run them with another NODE_ENV.',
  )
}
