import type { Demo } from '../../../demo/demo'

/** How the resource server of the demo answers a request with this access token. */
export async function statusOfPhotos(demo: Demo, accessToken: unknown): Promise<number> {
  const headers = { authorization: `Bearer ${String(accessToken)}` }
  return (await fetch(`${demo.resourceServer}/photos`, { headers })).status
}
