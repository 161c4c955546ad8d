/* SPDX-License-Identifier: Apache-2.0 */
/* Sealing a log: when, and in which order seal and key go to disk. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "audit/storage/chain.h"
#include "audit/write/log_parts.h"
#include "audit/storage/storage.h"

void log_seal_keep(struct audit_log *log)
{
	struct seal_file file = SEAL_FILE_INIT;

	/* Whoever wants another key has to say so again, here. */
	seal_file_close(&log->sealing.next);
	if (log->sealing.file.fd < 0 ||
	    faccessat(log->segment.directory_fd, SEAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	if (seal_file_create(log->segment.directory_fd, &log->sealing.file.key, &file) < 0)
		return;
	seal_file_close(&log->sealing.file);
	log->sealing.file = file;
	seal_key_erase(&file.key);
}

void log_seal_find_last(struct audit_log *log)
{
	size_t size = log->segment.size;
	struct seal_claim claim;
	const char *data, *at;
	uint64_t sequence;

	data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, log->segment.fd, 0) : MAP_FAILED;
	if (data == MAP_FAILED)
		return;
	at = data;
	while ((at = memmem(at, size - (size_t)(at - data), SEAL_EVENT, sizeof(SEAL_EVENT) - 1))) {
		const char *newline = memchr(at, '\n', size - (size_t)(at - data));
		const char *line = memrchr(data, '\n', (size_t)(at - data));

		line = line ? line + 1 : data;
		if (newline && seal_claim_parse(line, (size_t)(newline - line), &claim) == 0 &&
		    chain_sequence(line, (size_t)(newline - line), &sequence) == 0) {
			log->sealing.last = claim;
			log->sealing.sequence = sequence;
		}
		at++;
	}
	munmap((void *)data, size);
}

static bool same_id(const unsigned char a[SEAL_ID_SIZE], const unsigned char b[SEAL_ID_SIZE])
{
	return memcmp(a, b, SEAL_ID_SIZE) == 0;
}

/* The last seal says that the next is made with the key that waits. */
static bool is_handed_over(const struct sealing *sealing)
{
	return sealing->last.last && sealing->next.fd >= 0 &&
	       same_id(sealing->last.next, sealing->next.key.id);
}

/* The key behind that of the last seal. */
static int catch_up(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	int r = 0;

	if (is_handed_over(sealing)) {
		r = storage_sync(log->segment.fd);
		return r < 0 ? r
			     : seal_next_take(log->segment.directory_fd, &sealing->file,
					      &sealing->next);
	}
	while (r == 0 && same_id(sealing->file.key.id, sealing->last.id) &&
	       sealing->file.key.number <= sealing->last.number) {
		r = storage_sync(log->segment.fd);
		if (r == 0)
			r = seal_file_advance(&sealing->file);
	}
	return r;
}

void log_seal_load_keys(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	int fd = log->segment.directory_fd;

	if (sealing->next.fd < 0)
		(void)seal_next_open(fd, &sealing->next);
	if (sealing->file.fd < 0 && seal_file_open(fd, &sealing->file) == 0 && catch_up(log) < 0)
		seal_file_close(&sealing->file);
	/* A crash came before it was removed. */
	if (sealing->file.fd >= 0 && sealing->next.fd >= 0 && !sealing->unfinished &&
	    same_id(sealing->file.key.id, sealing->next.key.id))
		(void)seal_next_take(fd, &sealing->file, &sealing->next);
}

int log_seal_finish(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	int r;

	if (!sealing->unfinished || log->pending.size > 0)
		return 0;
	r = storage_sync(log->segment.fd);
	if (r == 0 && is_handed_over(sealing))
		r = seal_next_take(log->segment.directory_fd, &sealing->file, &sealing->next);
	else if (r == 0 && seal_file_advance(&sealing->file) < 0)
		/* Without the next key nothing can be sealed; log_seal_load_keys() tries again. */
		seal_file_close(&sealing->file);
	if (r == 0)
		sealing->unfinished = false;
	return r;
}

static int compose_seal(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	char text[SEAL_RECORD_SIZE], time[CLOCK_TEXT_SIZE];
	uint64_t boot = log->options.clock(CLOCK_BOOTTIME);
	const unsigned char *next = sealing->next.fd >= 0 ? sealing->next.key.id : NULL;
	unsigned char mac[SHA256_SIZE];
	size_t size;
	int r;

	clock_format(log->options.clock(CLOCK_REALTIME), time);
	size = seal_claim_format(time, &sealing->file.key, next, boot, text);
	log->scratch.size = 0;
	log->scratch.failed = false;
	buffer_literal(&log->scratch, "{\"seq\":");
	buffer_number(&log->scratch, log->segment.sequence + 1);
	buffer_literal(&log->scratch, ",");
	buffer_add(&log->scratch, text + 1, size - 1);
	if (log->scratch.failed)
		return -ENOMEM;
	r = seal_mac(&sealing->file.key, log->segment.chain, log->scratch.data, log->scratch.size,
		     mac);
	if (r < 0)
		return r;
	size += seal_claim_end(mac, text + size);
	r = log_line_compose(log, &log->pending, text + 1, size - 2);
	if (r < 0)
		return r;
	log_copy_time(log->last_time, time);
	sealing->unfinished = true;
	sealing->sequence = log->segment.sequence;
	sealing->last = (struct seal_claim){.number = sealing->file.key.number, .last = next};
	memcpy(sealing->last.id, sealing->file.key.id, SEAL_ID_SIZE);
	if (next)
		memcpy(sealing->last.next, next, SEAL_ID_SIZE);
	sealing->time = boot;
	return 0;
}

bool log_seal_is_wanted(const struct audit_log *log)
{
	const struct sealing *sealing = &log->sealing;

	return sealing->file.fd >= 0 &&
	       (sealing->next.fd >= 0 || log->segment.sequence > sealing->sequence);
}

bool log_seal_is_due(const struct audit_log *log, uint64_t now)
{
	const struct sealing *sealing = &log->sealing;

	if (!log_seal_is_wanted(log))
		return false;
	return sealing->next.fd >= 0 || (log->options.seal_nsec > 0 && now >= sealing->time &&
					 now - sealing->time >= log->options.seal_nsec);
}

int log_seal(struct audit_log *log)
{
	int r;

	if (!log_seal_is_wanted(log) || log->sealing.unfinished || log->pending.size > 0)
		return 0;
	r = compose_seal(log);
	if (r == 0)
		r = log_write_pending(log);
	return r < 0 ? r : log_seal_finish(log);
}
