// Invokes function.js as an HTTP API of AWS does: a token, and a guarded request with it.
const { handler } = require('./function.js')

const invoke = (method, path, headers, body = '') =>
  handler(
    {
      version: '2.0',
      rawPath: path,
      rawQueryString: '',
      headers,
      requestContext: { http: { method, path, sourceIp: '192.0.2.1' } },
      body,
      isBase64Encoded: false,
    },
    {},
  )

void (async () => {
  const form = { authorization: process.argv[2], 'content-type': 'application/x-www-form-urlencoded' }
  const asked = await invoke('POST', '/token', form, 'grant_type=client_credentials&scope=reports')
  const { access_token } = JSON.parse(asked.body)
  const { statusCode, body } = await invoke('GET', '/reports', { authorization: `Bearer ${access_token}` })
  console.log(statusCode, body)
  process.exit(0)
})()
