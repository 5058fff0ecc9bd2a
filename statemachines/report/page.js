addEventListener('mouseover', e => {
  const at = e.target.closest('[data-s]');
  document.querySelectorAll('.on').forEach(x => x.classList.remove('on'));
  if (at) document.querySelectorAll('[data-s="' + at.dataset.s + '"]').forEach(x => x.classList.add('on'));
});
const reveal = () => {
  const to = document.getElementById(location.hash.slice(1));
  for (let x = to; x; x = x.parentElement) if (x.tagName === 'DETAILS') x.open = true;
  if (to) to.scrollIntoView({block: 'center'});
};
addEventListener('hashchange', reveal);
reveal();
