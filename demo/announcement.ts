import type { Demo } from './demo'

/**
 * What to open, what to type, and what to run, as it stands in the terminal.
 *
 * @param node the version of Node that runs the commands.
 */
export function announcement(demo: Demo, storage: string, node = process.versions.node): string {
  const { authorizationServer, client, postcards, relyingParty, attackLab, television } = demo
  const { resourceServer, mcpServer, clients, account } = demo
  const { client_id, client_secret } = clients.nightlyReport
  const tokenRequest = `${authorizationServer}/token -u ${client_id}:${client_secret} -d grant_type=client_credentials -d scope=photos:read`
  const accessToken = `'JSON.parse(fs.readFileSync(0)).access_token'`
  const bearer = `-H "Authorization: Bearer $TOKEN"`
  // mcp-remote keeps its registration, which a demo in memory forgets: each start gets a folder of its own.
  const remote = `MCP_REMOTE_CONFIG_DIR=$(mktemp -d) npx mcp-remote ${mcpServer}`
  return `
  Open      ${authorizationServer}   Lumen, which leads to every app
            ${client}   Photo Book, which asks for your photos
            ${postcards}   Postcards, which Lumen does not know yet
            ${relyingParty}   Supper Club, where you sign in with Lumen
            ${attackLab}   Attack Lab, where you watch attacks fail
            ${television}   Television, which shows a code
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

A command line signs in by a code, as on a machine without a browser:
  node -r esbuild-register demo/log-in.ts ${authorizationServer} ${resourceServer}

An MCP client lists the photos, and asks you again before it adds one:
  ${remote}
${inspector(mcpServer, node)}

Ctrl+C stops the demo.
`
}

/** On an older Node, npx takes an Inspector from before these options, which ends with an error. */
function inspector(mcpServer: string, node: string): string {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 19)
    ? `  npx @modelcontextprotocol/inspector --transport http --server-url ${mcpServer}`
    : `  The MCP Inspector needs Node 22.19 or newer, and this is Node ${node}.`
}
