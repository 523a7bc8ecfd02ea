import { createHash } from 'node:crypto'

const lines = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8;
  --card: #ffffff;
  --inset: #f8f9fb;
  --line: #e2e5eb;
  --control-line: #8b93a4;
  --text: #171a21;
  --muted: #596070;
  --accent: #3a56d4;
  --accent-hover: #2f48bb;
  --on-accent: #ffffff;
  --link: #3a56d4;
  --tint: #e9edfc;
  --on-tint: #2f48bb;
  --caution: #fdf1dc;
  --on-caution: #8a5300;
  --problem: #fdeceb;
  --on-problem: #a81b12;
  --shadow: 0 1px 2px rgb(20 24 40 / 5%), 0 12px 32px -8px rgb(20 24 40 / 12%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d0f13;
    --card: #16191f;
    --inset: #1b1f26;
    --line: #2a2f38;
    --control-line: #697183;
    --text: #eceef2;
    --muted: #9ca4b3;
    --accent: #4762e0;
    --accent-hover: #3d57d2;
    --link: #93a7ff;
    --tint: #232b4a;
    --on-tint: #b4c2ff;
    --caution: #3a2c12;
    --on-caution: #f4c36c;
    --problem: #3d1c1a;
    --on-problem: #ffb0a6;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 16px 40px -8px rgb(0 0 0 / 50%);
  }
}
*, ::before, ::after { box-sizing: border-box; }
body, h1, h2, h3, p, ul, dl, dd, fieldset { margin: 0; padding: 0; }
html { background: var(--card); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  min-height: 100vh;
  min-height: 100dvh;
  color: var(--text);
  font: 400 0.9375rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  -webkit-font-smoothing: antialiased;
  overflow-wrap: anywhere;
}
:lang(ja) { word-break: auto-phrase; }
.card { padding: 2.5rem 1.25rem 1.5rem; background: var(--card); }
.intro { text-align: center; }
.mark {
  position: relative;
  display: grid;
  place-items: center;
  width: 4rem;
  height: 4rem;
  margin: 0 auto 1.25rem;
  overflow: hidden;
  border-radius: 1rem;
  background: var(--tint);
  color: var(--on-tint);
  font-size: 1.625rem;
  font-weight: 600;
  line-height: 1;
}
.mark img, .mark img::after { position: absolute; inset: 0; width: 100%; height: 100%; }
.mark img { border: 1px solid var(--line); border-radius: inherit; background: #ffffff; object-fit: contain; }
.mark img::after { display: grid; place-items: center; background: var(--tint); content: attr(alt); }
.mark.caution { border-radius: 50%; background: var(--caution); color: var(--on-caution); }
h1 { font-size: 1.375rem; font-weight: 600; line-height: 1.3; letter-spacing: -0.012em; text-wrap: balance; }
.subtitle { display: block; margin-top: 0.125rem; color: var(--muted); font-size: 1rem; font-weight: 400; }
.intro p { margin-top: 0.75rem; color: var(--muted); text-wrap: pretty; }
.origin { display: block; margin-top: 0.125rem; font-size: 1rem; font-weight: 400; }
.origin bdi { font-weight: 600; }
.intro a { display: inline-block; margin-top: 0.375rem; font-size: 0.875rem; }
.name, .description { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; }
.name { -webkit-line-clamp: 3; line-clamp: 3; }
.description { -webkit-line-clamp: 4; line-clamp: 4; }
a { color: var(--link); text-decoration: none; text-underline-offset: 0.2em; border-radius: 0.25rem; }
a:hover { text-decoration: underline; }
.service { display: flex; gap: 0.5rem; align-items: center; justify-content: center; margin-bottom: 1.75rem; font-weight: 600; }
.service img { width: 1.75rem; height: 1.75rem; object-fit: contain; }
.badge {
  display: inline-block;
  margin-block: 0.375rem 0.125rem;
  padding: 0.125rem 0.625rem;
  border: 1px solid currentcolor;
  border-radius: 1rem;
  background: var(--caution);
  color: var(--on-caution);
  font-size: 0.8125rem;
  letter-spacing: 0;
}
.permissions { margin-top: 1.75rem; }
h2 { margin-bottom: 0.5rem; color: var(--muted); font-size: 0.8125rem; font-weight: 500; }
h3 { margin-block: 0.875rem 0.375rem; font-size: 0.875rem; font-weight: 600; }
.danger { border-color: var(--on-problem); }
.weight { padding: 0 0.5rem; border-radius: 1rem; background: var(--tint); color: var(--on-tint); font-size: 0.75rem; font-weight: 600; }
.danger .weight { background: var(--problem); color: var(--on-problem); }
.danger li:not(.optional)::before { top: 0.6875rem; width: auto; height: auto; border: 0; color: var(--on-problem); font-weight: 700; content: '!'; transform: none; }
.hint { margin-top: 0.5rem; color: var(--muted); font-size: 0.8125rem; }
ul { overflow: hidden; border: 1px solid var(--line); border-radius: 0.75rem; list-style: none; }
li {
  position: relative;
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  justify-content: space-between;
  gap: 0.125rem 0.75rem;
  padding-block: 0.6875rem;
  padding-inline: 2.5rem 0.875rem;
}
li + li { border-top: 1px solid var(--line); }
li::before {
  position: absolute;
  top: 1.0625rem;
  inset-inline-start: 1.125rem;
  width: 0.375rem;
  height: 0.6875rem;
  border: solid var(--link);
  border-width: 0 0.125rem 0.125rem 0;
  content: '';
  transform: rotate(45deg);
}
code { direction: ltr; unicode-bidi: isolate; color: var(--muted); font: 0.75rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.facts { margin-top: 1.25rem; font-size: 0.875rem; }
.facts div { display: flex; gap: 1rem; justify-content: space-between; padding: 0.25rem 0; }
dt { flex: none; color: var(--muted); }
dt[dir] { flex: 0 1 auto; }
dd { min-width: 0; font-weight: 500; text-align: end; }
dd a, dd button { display: inline-block; margin-inline-start: 0.375rem; }
.actions { position: relative; display: flex; flex-direction: column; gap: 0.625rem; margin-top: 1.5rem; }
.actions::after { position: absolute; inset: 0; visibility: hidden; content: ''; transition: visibility 0s 2s; }
.actions:active::after { visibility: visible; pointer-events: none; transition: none; }
button, .actions a, select, input:not([type='hidden'], [type='checkbox'], [type='radio']) {
  min-height: 2.875rem;
  border: 1px solid var(--control-line);
  border-radius: 0.625rem;
  background: var(--card);
  color: inherit;
  font: inherit;
}
button, .actions a { padding: 0.5rem 1rem; font-weight: 600; cursor: pointer; }
dd button { min-height: 1.5rem; padding: 0; border: 0; border-radius: 0.25rem; background: none; color: var(--link); font-weight: 500; }
dd button:hover { background: none; text-decoration: underline; text-underline-offset: 0.2em; }
button:hover, .actions a:hover { background: var(--inset); }
.actions a { padding-block: 0.6875rem; text-align: center; }
.actions a:hover { text-decoration: none; }
.actions .primary { border-color: transparent; background: var(--accent); color: var(--on-accent); }
.actions .primary:hover { background: var(--accent-hover); }
label { display: block; margin-top: 1rem; font-size: 0.875rem; font-weight: 500; }
li.optional { display: block; padding: 0; }
li.optional::before { content: none; }
.optional label, .question label { display: flex; gap: 0.75rem; align-items: baseline; margin: 0; font: inherit; cursor: pointer; }
.optional label { padding: 0.6875rem 0.875rem; }
.choice { display: flex; flex: 1; flex-wrap: wrap; gap: 0.125rem 0.75rem; align-items: baseline; justify-content: space-between; min-width: 0; }
input[type='checkbox'], input[type='radio'] { flex: none; width: 1.0625rem; height: 1.0625rem; margin: 0; accent-color: var(--accent); transform: translateY(0.1875rem); }
.question { min-width: 0; margin-top: 1.5rem; border: 0; }
legend, .question > span { margin-bottom: 0.5rem; padding: 0; font-size: 0.875rem; font-weight: 600; }
fieldset label { padding: 0.6875rem 0.875rem; border: 1px solid var(--line); }
fieldset label:first-of-type { border-start-start-radius: 0.75rem; border-start-end-radius: 0.75rem; }
fieldset label:last-of-type { border-end-start-radius: 0.75rem; border-end-end-radius: 0.75rem; }
fieldset label + label { border-top: 0; }
.application { margin-top: 1.25rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.application h2:has(.name) { color: inherit; font-size: 1.0625rem; font-weight: 600; }
.application .name { text-align: left; }
[dir='rtl'] .application .name { text-align: right; }
.application ul { margin-top: 0.375rem; }
.application ul + ul { margin-top: 0.875rem; }
.application .actions { margin-top: 1rem; }
.line { display: block; }
select, input:not([type='hidden'], [type='checkbox'], [type='radio']) { display: block; width: 100%; margin-top: 0.375rem; padding: 0.5rem 0.75rem; font-size: 1rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.assurance {
  margin-top: 1.5rem;
  padding: 0.875rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--inset);
  text-align: center;
  text-wrap: balance;
}
.assurance + .assurance { margin-top: 0.75rem; }
.assurance.problem { border-color: var(--on-problem); background: var(--problem); color: var(--on-problem); font-weight: 500; }
.assurance.caution { border-color: transparent; background: var(--caution); color: var(--on-caution); }
.assurance strong { display: block; font-weight: 600; }
.fineprint { margin-top: 1.5rem; color: var(--muted); font-size: 0.8125rem; text-align: center; }
.fineprint > a, .fineprint code { display: inline-block; margin: 0 0.375rem; }
.fineprint a { color: inherit; text-decoration: underline; text-decoration-color: var(--control-line); }
@media (min-width: 32rem) {
  html { background: var(--page); }
  body { display: grid; place-items: center; padding: 2.5rem 1rem; }
  .card {
    width: 100%;
    max-width: 28rem;
    padding: 2.25rem 2rem 1.75rem;
    border: 1px solid var(--line);
    border-radius: 1.125rem;
    box-shadow: var(--shadow);
  }
  .actions { flex-direction: row; }
  button, .actions a { flex: 1 1 0; }
}
@media (prefers-reduced-motion: no-preference) {
  button { transition: background-color 120ms ease; }
}
`

/** The policy allows exactly this text, alone or with a service's colours. */
export const stylesheet = lines.replaceAll(/\n */g, '')

export const styleSourceOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`
