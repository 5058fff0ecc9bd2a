// Patches of the stream take the place of parts of the page by their ids. What the
// reader opened, chose or types stays.
(() => {
const byID = id => document.getElementById(id);
const waiting = new Map();
document.body.classList.add('scripted');

const isTyping = part => part.contains(document.activeElement) && document.activeElement.matches('input, textarea, select');
const put = ({id, html, in: parent}) => {
  let part = byID(id);
  if (!part && parent && byID(parent)) {
    part = byID(parent).appendChild(document.createElement('section'));
    part.id = id;
  }
  if (!part) return;
  if (isTyping(part)) { waiting.set(id, {id, html}); return; }
  waiting.delete(id);
  const open = [...part.querySelectorAll('details')].map(x => x.open);
  const chosen = [...part.querySelectorAll('input[id]:is([type=radio], [type=checkbox])')].map(x => [x.id, x.checked]);
  const scrolled = [...part.querySelectorAll('.time, .scroll')].map(x => [x.scrollLeft, x.scrollTop]);
  const focused = part.contains(document.activeElement) ? [...part.querySelectorAll('a, button, summary')].indexOf(document.activeElement) : -1;
  part.innerHTML = html;
  part.querySelectorAll('details').forEach((x, i) => { if (i in open) x.open = open[i]; });
  chosen.forEach(([id, on]) => { if (byID(id)) byID(id).checked = on; });
  part.querySelectorAll('.time, .scroll').forEach((x, i) => { if (i in scrolled) [x.scrollLeft, x.scrollTop] = scrolled[i]; });
  if (focused >= 0) [...part.querySelectorAll('a, button, summary')][focused]?.focus({preventScroll: true});
  if (id.startsWith('part-events')) filter(part);
};
addEventListener('focusout', () => setTimeout(() => [...waiting.values()].forEach(put)));

const live = document.body.dataset.live;
if (live) {
  let source, after = document.querySelector('main')?.dataset.after;
  const follow = () => {
    source = new EventSource(after ? live + (live.includes('?') ? '&' : '?') + 'after=' + after : live);
    source.addEventListener('patch', e => put(JSON.parse(e.data)));
    source.addEventListener('version', e => { after = e.data; });
    source.addEventListener('open', () => { byID('connection').textContent = ''; });
    source.addEventListener('error', () => { byID('connection').textContent = 'not connected: what you see may be old'; });
  };
  // A browser has few connections to a server: a tab that nobody sees holds none.
  const choose = () => {
    source?.close();
    if (!document.hidden) follow();
  };
  document.addEventListener('visibilitychange', choose);
  choose();
}

// The script sends forms, so that the reader stays where he is.
addEventListener('submit', async e => {
  const form = e.target;
  if (form.method !== 'post' || !form.action.includes('/act/')) return;
  e.preventDefault();
  const body = new URLSearchParams(new FormData(form, e.submitter));
  try {
    const answer = await fetch(form.action, {method: 'POST', body, headers: {'X-Page': '1'}});
    const to = answer.headers.get('X-Page-To');
    byID('message').textContent = answer.ok ? '' : await answer.text();
    if (answer.ok) document.activeElement?.blur();
    if (to) location.assign(to);
  } catch {
    byID('message').textContent = 'The server does not answer.';
  }
});

const rows = () => [...document.querySelectorAll('[data-row] td:first-child a, #part-steps summary')].filter(x => x.checkVisibility?.() ?? true);
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input, textarea, select, button, summary') && e.key === ' ' || e.target.matches('input, textarea, select')) return;
  if (e.key === 'j' || e.key === 'k') {
    const all = rows(), at = all.indexOf(document.activeElement);
    all[e.key === 'j' ? Math.min(at + 1, all.length - 1) : Math.max(at - 1, 0)]?.focus();
    return;
  }
  const form = document.querySelector('form[data-key="' + CSS.escape(e.key) + '"]');
  if (form && !form.querySelector('button').disabled) { e.preventDefault(); form.requestSubmit(form.querySelector('button')); }
});

const filter = part => {
  const text = byID('filter')?.value.toLowerCase() || '';
  let state = ''; // a row with a ditto mark has that of the row above
  part.querySelectorAll('tbody tr').forEach(x => {
    if (x.cells[5].textContent !== '″') state = x.cells[5].textContent;
    x.classList.toggle('filtered', text !== '' && !(x.textContent + ' ' + state).toLowerCase().includes(text));
  });
};
byID('filter')?.addEventListener('input', () => filter(byID('events')));
})();
