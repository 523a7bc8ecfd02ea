import type { Demo } from './demo'

/** What to open, what to type, and what to run, as it stands in the terminal. */
export function announcement(
  { authorizationServer, client, resourceServer, mcpServer, clients, account }: Demo,
  storage: string,
): string {
  const { client_id, client_secret } = clients.nightlyReport
  const tokenRequest = `${authorizationServer}/token -u ${client_id}:${client_secret} -d grant_type=client_credentials -d scope=photos:read`
  const accessToken = `'JSON.parse(fs.readFileSync(0)).access_token'`
  const bearer = `-H "Authorization: Bearer $TOKEN"`
  // mcp-remote keeps its registration, which a demo in memory forgets: each start gets a folder of its own.
  const remote = `MCP_REMOTE_CONFIG_DIR=$(mktemp -d) npx mcp-remote ${mcpServer}`
  return `
  Open      ${client}   Photo Book, a client application
  Sign in   ${account.username} / ${account.password}

  Authorization server   ${authorizationServer}
  Resource server        ${resourceServer}
  MCP server             ${mcpServer}
  Storage                ${storage}

A service gets a token for itself:
  curl ${tokenRequest}

The same, kept for the calls below:
  TOKEN=$(curl -s ${tokenRequest} | node -p ${accessToken})

It opens what needs photos:read:
  curl ${resourceServer}/photos ${bearer}

Nothing opens without a token (401):
  curl -i ${resourceServer}/photos

Adding a photo needs photos:write (403):
  curl -i -X POST ${resourceServer}/photos ${bearer}

An MCP client lists the photos, and asks you again before it adds one:
  npx @modelcontextprotocol/inspector --transport http --server-url ${mcpServer}
  ${remote}

Ctrl+C stops the demo.
`
}
