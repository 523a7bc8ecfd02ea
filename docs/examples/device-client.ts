import * as oauth from 'openid-client'

const issuer = new URL(process.env['ISSUER'] ?? 'http://localhost:3000')

async function showPhotos() {
  const config = await oauth.discovery(issuer, 'television', undefined, oauth.None(), {
    algorithm: 'oauth2',
    execute: [oauth.allowInsecureRequests], // because localhost has no https
  })
  const device = await oauth.initiateDeviceAuthorization(config, { scope: 'photos:read' })
  process.stdout.write(`Open ${device.verification_uri} and enter ${device.user_code}\n`)
  const { access_token } = await oauth.pollDeviceAuthorizationGrant(config, device)
  const photos = await oauth.fetchProtectedResource(config, access_token, new URL('/photos', issuer), 'GET')
  process.stdout.write(`${await photos.text()}\n`)
}

void showPhotos()
