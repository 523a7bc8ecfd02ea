import { client, owner, scope } from './cast'
import type { Fields } from './story'

/** A consent page as the host of a peer would write it in few lines: who asks for what, and two buttons. */
export function consentPage(action: string, hidden: Fields): string {
  const inputs = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Allow ${escaped(client.id)}?</title></head>
<body>
<h1>Allow ${escaped(client.id)}?</h1>
<p>${escaped(owner)}, it asks for: ${escaped(scope)}</p>
<form method="post" action="${escaped(action)}">
${inputs.join('\n')}
<button name="decision" value="approve">Allow</button>
<button name="cancel" value="yes">Deny</button>
</form>
</body>
</html>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}
